"""Which logs a person means by the paths that are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.locations import Locations
from storage.sources.registry import registry
from tests.storage.sources.openhands_logs import answer, user
from tests.storage.sources.openhands_old_logs import made_old
from tests.storage.sources.test_openhands_folder import written


def test_a_file_of_a_log_that_is_a_folder_leads_to_the_log(tmp_path: Path) -> None:
    written(tmp_path / "c0ffee", [user("u", "a"), answer("s", "b")])
    old = tmp_path / "s1" / "events"
    old.mkdir(parents=True)
    for row in made_old()[:3]:
        (old / f"{row['id']}.json").write_text(json.dumps(row))
    locations = Locations(registry(), {}, tmp_path)
    event = next((tmp_path / "c0ffee" / "events").iterdir())
    state = tmp_path / "c0ffee" / "base_state.json"
    assert locations.files([event]).paths == (state,)
    assert set(locations.files([tmp_path]).paths) == {state, old / "0.json"}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.traj", "x.jsonl.zst", "x.jsonl.zstd"])
def test_each_ending_that_can_be_read_is_found_in_a_folder_and_followed(
    tmp_path: Path, name: str
) -> None:
    log = tmp_path / name
    log.write_bytes(b"")
    locations = Locations(registry(), {}, tmp_path)
    assert locations.files([tmp_path]).paths == (log,)
    assert locations.is_log([tmp_path])(log)
