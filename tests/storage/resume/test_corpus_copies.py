"""Copies of real logs hold exactly their plan, by what our own adapters find in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.resuming import PlanKind, Planned, printed

pytestmark = pytest.mark.corpus

CODEX = (
    "entire-0.125.0-prefix",
    "entire-skills-0.118.0",
    "opk-0.34.0-long",
    "yt-0.106.0",
    "yt-0.106.0-early-snapshot",
)
PI = (
    "made-c_keep",
    "made-e_two",
    "made-f_edit",
    "made-g_branch",
    "pimono-large-session-v1",
    "sandcastle-resumed-v3",
)
WITH_PLANS: dict[str, tuple[PlanKind, ...]] = {
    "entire-skills-0.118.0": ("micro", "pins"),
    "yt-0.106.0": ("region", "auto", "micro", "pins"),
    "pimono-large-session-v1": ("region", "micro", "pins"),
}
"""Where something is to be compacted, and it does not take long."""


def copies(agent: str, folder: Path, name: str, kind: PlanKind, tmp_path: Path) -> None:
    with Planned(folder / agent / f"{name}.jsonl", tmp_path, kind) as plan:
        copy = plan.copy()
    assert copy.operations or kind == "plain"
    assert printed(copy.read_back) == printed(copy.planned)


@pytest.mark.parametrize("name", CODEX)
def test_a_codex_session_is_copied_whole(corpus: Path, tmp_path: Path, name: str) -> None:
    copies("codex", corpus, name, "plain", tmp_path)


@pytest.mark.parametrize("name", PI)
def test_a_pi_session_is_copied_whole(corpus: Path, tmp_path: Path, name: str) -> None:
    copies("pi", corpus, name, "plain", tmp_path)


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, ks in WITH_PLANS.items() for k in ks])
def test_the_plan_is_what_is_copied(
    corpus: Path, tmp_path: Path, name: str, kind: PlanKind
) -> None:
    copies("codex" if name in CODEX else "pi", corpus, name, kind, tmp_path)


def test_a_copy_is_listed_as_a_fork_of_its_original(corpus: Path, tmp_path: Path) -> None:
    source = corpus / "pi" / "sandcastle-resumed-v3.jsonl"
    # pi names its files by time and id, and a fork by the file that it came from.
    log = tmp_path / "2026-05-29T14-41-12-581Z_019e742e-9d84-7578-90d7-674f47fc7c07.jsonl"
    log.write_bytes(source.read_bytes())
    for path in (corpus / "codex" / "yt-0.106.0-early-snapshot.jsonl", log):
        with Planned(path, tmp_path, "plain") as plan:
            original = plan.store.sessions()[0]
            copy = plan.copy()
            plan.cases.ingest([copy.path])
            fork = plan.store.find(copy.report.session_id)
            assert (fork.relation, fork.parent_native_id) == ("fork", original.native_id)
