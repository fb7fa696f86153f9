"""What a reduced tool output still holds, against what it saves.

    python -m tests.benchmarks.tool_output [--files]

Two sets, both outside the repository. *Critical lines*: the corpus' tool outputs with the lines
that a reducer must not lose. Recall of atoms = of the matches of ``[\\w./:@-]*\\w`` longer than two
characters in critical lines, those that stand in the result as whole tokens. *Messages*: outputs
of compilers and linters with the messages that parsers' tests demand, kept verbatim or not, at
a share of each file's tokens. Micro: over all atoms and tokens; macro: the mean over the files.

Arms: ours with the profile that the command or the output chooses, ours with the generic profile
for all, first and last 20 lines, the last 2,000 characters, lines with words of failure, and
those with a line around each between the first 10 and the last 15. A file's leave-one-family-out
figure cannot be had here, since nothing is learnt from files: families are listed one by one.
Prints tables and one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from compress.reduction.choice import choose
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile, parse_profile
from compress.reduction.values import Budget
from compress.tokens import TokenCounter
from storage.resources import counter

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus")) / "tool-output"
MESSAGES = Path(os.environ.get("ULLAGE_EVAL", "../shared/eval")) / "tool-messages"
PROFILES = Path("assets/profiles")
ATOM = re.compile(r"[\w./:@-]*\w")
ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
FAILURE = re.compile(r"(?i)error|fail|fatal|panic|exception|warning|assert|denied|cannot")
CURVE = (0.05, 0.1, 0.15, 0.25, 0.4, 0.6)
LARGE = 2_000
"""Tokens above which a file of messages is in the figure of large files."""
MESSAGE_SHARE = 0.25
SURROUNDINGS = (
    "app_log_chained_traceback.txt",
    "cargo_test_pass_large.txt",
    "find_ls_tree_tepp.txt",
    "git_log_stat_rtk.txt",
    "gradle_dependencies.txt",
    "maven_ansi.txt",
)
"""Outputs in whose midst messages are looked for."""

Arm = Callable[[str, str], str]
"""(text, command) → what stays."""


@dataclass(frozen=True)
class Output:
    """``critical``: the lines that may not be lost."""

    name: str
    text: str
    command: str
    critical: tuple[str, ...]

    @property
    def family(self) -> str:
        """The tool, by the first word of the file's name."""
        return re.split(r"[_.\d]", self.name)[0]


@dataclass(frozen=True)
class Score:
    """``held`` of ``atoms``; tokens before and after."""

    name: str
    atoms: int
    held: int
    before: int
    after: int


def atoms(text: str) -> set[str]:
    """The atoms of a text, without what colours it."""
    return {atom for atom in ATOM.findall(ESCAPE.sub("", text)) if len(atom) > 2}


def outputs(folder: Path) -> list[Output]:
    """The outputs with their commands and critical lines."""
    commands = {}
    for line in (folder.parent / "INDEX.tsv").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        commands[cells[0]] = cells[-1]
    critical: dict[str, list[str]] = {}
    for line in (folder / "critical.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, _, text, _ = line.split("\t")
        critical.setdefault(name, []).append(text)
    return [
        Output(
            path.name,
            path.read_bytes().decode("utf-8", "replace"),
            commands.get(f"tool-output/{path.name}", ""),
            tuple(critical.get(path.name, ())),
        )
        for path in sorted(folder.iterdir())
        if path.name != "critical.tsv"
    ]


def profiles() -> list[Profile]:
    """Those that ship, the generic one last."""
    found = [
        parse_profile(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
        for path in sorted(PROFILES.glob("*.toml"))
    ]
    return sorted(found, key=lambda p: p.name.startswith("generic"))


def arms(count: TokenCounter, known: Sequence[Profile]) -> dict[str, Arm]:
    """The ways to reduce, by name."""
    generic = next(p for p in known if p.name == "generic")

    def ours(text: str, command: str) -> str:
        chosen = choose(known, command=command, output=text) or generic
        return reduce(text, chosen, count, generic=generic).text

    def forced(text: str, command: str) -> str:
        return reduce(text, generic, count).text

    def ends(text: str, command: str) -> str:
        lines = text.split("\n")
        return text if len(lines) <= 40 else "\n".join([*lines[:20], *lines[-20:]])

    def tail(text: str, command: str) -> str:
        return text[-2000:]

    def failures(text: str, command: str) -> str:
        return "\n".join(line for line in text.split("\n") if FAILURE.search(line))

    def around(text: str, command: str) -> str:
        lines = text.split("\n")
        kept = {*range(10), *range(len(lines) - 15, len(lines))}
        for index, line in enumerate(lines):
            if FAILURE.search(line):
                kept.update((index - 1, index, index + 1))
        return "\n".join(line for index, line in enumerate(lines) if index in kept)

    return {
        "profiles": ours,
        "generic": forced,
        "head20+tail20": ends,
        "last 2000 chars": tail,
        "failure lines": failures,
        "failure lines ±1": around,
    }


def score(output: Output, arm: Arm, count: TokenCounter) -> Score:
    """One output through one arm."""
    kept = arm(output.text, output.command)
    wanted = set().union(*(atoms(line) for line in output.critical)) if output.critical else set()
    found = atoms(kept)
    return Score(
        output.name,
        len(wanted),
        len(wanted & found),
        count.count(output.text),
        count.count(kept),
    )


def pooled(scores: Sequence[Score]) -> dict[str, float]:
    """Recall and saving, over all and as the mean over files."""
    with_atoms = [s for s in scores if s.atoms]
    total = sum(s.before for s in scores)
    return {
        "recall_micro": sum(s.held for s in with_atoms) / sum(s.atoms for s in with_atoms),
        "recall_macro": sum(s.held / s.atoms for s in with_atoms) / len(with_atoms),
        "saved_micro": 1 - sum(s.after for s in scores) / total,
        "saved_macro": sum(1 - s.after / s.before for s in scores) / len(scores),
    }


def families(scores: Sequence[Score], members: Sequence[Output]) -> Iterator[tuple[str, Score]]:
    """The scores of each family, added up."""
    names = dict.fromkeys(member.family for member in members)
    family_of = {member.name: member.family for member in members}
    for name in names:
        own = [s for s in scores if family_of[s.name] == name]
        yield (
            name,
            Score(
                name,
                sum(s.atoms for s in own),
                sum(s.held for s in own),
                sum(s.before for s in own),
                sum(s.after for s in own),
            ),
        )


@dataclass(frozen=True)
class Kept:
    """Messages of one file: how many there are, are kept, and could be kept at all."""

    name: str
    tokens: int
    messages: int
    kept: int
    possible: int
    over: int
    """Tokens above the budget."""


def holdable(text: str, messages: Sequence[str], budget: int, count: TokenCounter) -> int:
    """How many messages whole lines could hold within a budget, the shortest lines first."""
    lines = text.split("\n")
    costs = []
    for message in messages:
        needed = len(message.split("\n"))
        spans = ("\n".join(lines[i : i + needed]) for i in range(len(lines) - needed + 1))
        found = [count.count(span + "\n") for span in spans if message in span]
        if found:
            costs.append(min(found))
    held = 0
    for cost in sorted(costs):
        if cost <= budget:
            budget -= cost
            held += 1
    return held


def wanted_messages(folder: Path) -> dict[str, list[str]]:
    """File → the messages that stand in it."""
    wanted: dict[str, list[str]] = {}
    for name, message in json.loads((folder / "messages.json").read_text(encoding="utf-8")):
        wanted.setdefault(name, []).append(message)
    return wanted


def message_scores(folder: Path, count: TokenCounter, generic: Profile) -> list[Kept]:
    """Each file with messages, reduced to a share of its tokens with the generic profile."""
    result = []
    for name, messages in wanted_messages(folder).items():
        text = (folder / "files" / name).read_bytes().decode("utf-8", "replace")
        tokens = count.count(text)
        reduction = reduce(text, generic, count, Budget(share=MESSAGE_SHARE))
        budget = int(tokens * MESSAGE_SHARE)
        result.append(
            Kept(
                name,
                tokens,
                len(messages),
                sum(message in reduction.text for message in messages),
                holdable(text, messages, budget, count),
                max(0, reduction.tokens_after - budget),
            )
        )
    return result


def embedded(
    folder: Path, members: Sequence[Output], count: TokenCounter, generic: Profile
) -> list[Kept]:
    """The same messages where each file stands somewhere in the midst of another tool's output, of
    six times its tokens, at least :data:`LARGE`."""
    around = [member.text.split("\n") for member in members if member.name in SURROUNDINGS]
    result = []
    for number, (name, messages) in enumerate(sorted(wanted_messages(folder).items())):
        places = random.Random(number)
        text = (folder / "files" / name).read_bytes().decode("utf-8", "replace")
        source = around[number % len(around)]
        start = places.randrange(len(source))
        needed = max(LARGE, 6 * count.count(text))
        lines: list[str] = []
        while needed > 0:
            lines.append(source[(start + len(lines)) % len(source)])
            needed -= count.count(lines[-1] + "\n")
        at = places.randrange(len(lines))
        whole = "\n".join([*lines[:at], *text.rstrip("\n").split("\n"), *lines[at:]])
        reduction = reduce(whole, generic, count, Budget(share=MESSAGE_SHARE))
        kept = sum(message in reduction.text for message in messages)
        result.append(Kept(name, count.count(whole), len(messages), kept, len(messages), 0))
    return result


def throughput(members: Sequence[Output], arm: Arm) -> float:
    """Megabytes of input a second."""
    size = sum(len(member.text.encode("utf-8", "replace")) for member in members)
    start = perf_counter()
    for member in members:
        arm(member.text, member.command)
    return size / 1e6 / (perf_counter() - start)


def main() -> None:
    count = counter()
    known = profiles()
    generic = next(p for p in known if p.name == "generic")
    members = outputs(CORPUS)
    report: dict[str, object] = {}
    print(f"{'arm':24} {'recall micro':>13} {'macro':>7} {'saved micro':>12} {'macro':>7}")
    detailed: dict[str, list[Score]] = {}
    for name, arm in arms(count, known).items():
        detailed[name] = [score(member, arm, count) for member in members]
        report[name] = figures = pooled(detailed[name])
        print(row(name, figures))
    for share in CURVE:

        def budgeted(text: str, command: str, share: float = share) -> str:
            return reduce(text, generic, count, Budget(share=share)).text

        figures = pooled([score(member, budgeted, count) for member in members])
        report[f"generic at {share:.0%}"] = figures
        print(row(f"generic at {share:.0%}", figures))
    print(f"\n{'family':14} {'profiles':>16} {'generic':>16}   recall / saved")
    both = zip(
        families(detailed["profiles"], members), families(detailed["generic"], members), strict=True
    )
    for (family, ours), (_, forced) in both:
        print(f"{family:14} {cell(ours):>16} {cell(forced):>16}")
    if "--files" in sys.argv:
        for ours, forced in zip(detailed["profiles"], detailed["generic"], strict=True):
            print(f"{ours.name:36} {ours.before:6} {cell(ours):>16} {cell(forced):>16}")
    kept = message_scores(MESSAGES, count, generic)
    report["messages"] = messages = {
        "large": ratio([k for k in kept if k.tokens > LARGE], "messages"),
        "all": ratio(kept, "messages"),
        "all_of_possible": ratio(kept, "possible"),
        "no_file_above_possible": sum(min(k.kept, k.possible) for k in kept)
        / sum(k.possible for k in kept),
        "embedded": ratio(embedded(MESSAGES, members, count, generic), "messages"),
        "over_budget": sum(k.over > 0 for k in kept),
    }
    print(f"\nmessages within {MESSAGE_SHARE:.0%}: {json.dumps(messages)}")
    if "--files" in sys.argv:
        for k in sorted(kept, key=lambda k: -k.tokens):
            print(f"{k.name:44} {k.tokens:6} {k.kept}/{k.possible}/{k.messages} over {k.over}")
    report["mb_per_second"] = throughput(members, arms(count, known)["profiles"])
    print(f"throughput: {report['mb_per_second']:.2f} MB/s")
    print(json.dumps(report))


def ratio(kept: Sequence[Kept], of: str) -> float:
    """Messages kept, of all or of those that could be."""
    whole = sum(getattr(k, of) for k in kept)
    return sum(k.kept for k in kept) / whole if whole else 1.0


def row(name: str, figures: dict[str, float]) -> str:
    """One line of the table."""
    cells = [figures[k] for k in ("recall_micro", "recall_macro", "saved_micro", "saved_macro")]
    widths = (13, 7, 12, 7)
    return f"{name:24} " + " ".join(f"{c:{w}.3f}" for c, w in zip(cells, widths, strict=True))


def cell(score: Score) -> str:
    """Recall and saving of one score."""
    recall = f"{score.held / score.atoms:.2f}" if score.atoms else "  – "
    return f"{recall} / {1 - score.after / score.before:5.1%}"


if __name__ == "__main__":
    main()
