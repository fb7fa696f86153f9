"""Believable histories of a session, with everything in them that a compaction can break.

A history is a function of a random source alone, so that another process makes the same one: from
a seed there, from Hypothesis here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from compress.compaction.service import preview_region
from compress.errors import CompressError
from compress.events import ContentBlock, NodeId
from tests.compress.logs import Log

TOOLS = ("Bash", "Read", "mcp__tracker__query", "自動")


@dataclass
class History:
    """A log, with what its author knows about it."""

    log: Log = field(default_factory=Log)
    thinking: dict[int, str] = field(default_factory=dict)
    """Event → the thinking in it."""
    open_items: list[str] = field(default_factory=list)
    done_items: list[str] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    """Nodes that began a job which still runs."""
    waiting: list[int] = field(default_factory=list)
    """Nodes of the step at the end whose call still waits for its result."""

    @property
    def total(self) -> int:
        """Counted tokens of the surface."""
        session = self.log.session()
        return sum(session.tokens(node) for node in session.plan.surface.nodes)


def history(random: Random) -> History:
    """One history of 3 to 14 acts."""
    made = _Author(random)
    made.ask()
    for _ in range(random.randint(2, 12)):
        random.choice(made.acts)()
    if random.random() < 0.3:
        made.still_running()
    return made.told


def histories() -> st.SearchStrategy[History]:
    """The same for Hypothesis."""
    return sources().map(history)


def sources() -> st.SearchStrategy[Random]:
    """Random sources by their seeds: evenly spread, which choices of Hypothesis' own are not."""
    return st.integers(0, 2**32 - 1).map(Random)


class _Author:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.told = History()
        self.log = self.told.log
        self.count = 0
        self.acts = (
            self.ask,
            self.talk,
            self.step,
            self.step,
            self.parallel,
            self.parallel,
            self.parts,
            self.served,
            self.interrupted,
            self.background,
            self.planned,
            self.rules,
            self.steered,
            self.giant,
            self.orphan,
            self.checkpoint,
            self.agent_compacts,
            self.rewinds,
        )

    def ask(self) -> None:
        self.log.user(self.words("please keep", 1, 60))

    def talk(self) -> None:
        """Many messages, some of several lines, some long."""
        for _ in range(self.random.randint(4, 14)):
            line = self.words("mind", 1, self.random.choice([5, 40, 400]))
            self.log.user(line.replace(" word", "\nword", self.random.randint(0, 2)))
            if self.random.random() < 0.5:
                self.log.step += 1
                said = ContentBlock(kind="text", text=self.words("noted", 1, 40))
                self.log.add("assistant/message", [said], role="assistant", step=self.log.step)

    def step(self) -> None:
        call = self.call()
        self.think_aloud([call])
        self.answer(call)

    def parallel(self) -> None:
        calls = [self.call() for _ in range(self.random.randint(2, 4))]
        self.think_aloud(calls)
        self.random.shuffle(calls)
        for call in calls:
            self.answer(call)

    def parts(self) -> None:
        """One request told in several nodes: thinking, a call, its result, another call."""
        log, n = self.log, self.next()
        log.step += 1
        thought = self.thought(n)
        seq = log.add("assistant/message", [thought], role="assistant", step=log.step)
        self.told.thinking[seq] = thought.text
        for _ in range(self.random.randint(1, 3)):
            call = self.call()
            log.add("assistant/message", [self.block(call)], role="assistant", step=log.step)
            self.answer(call)

    def served(self) -> None:
        """A tool that the provider runs: call and result stand in one message."""
        call = self.call()
        node = self.think_aloud([call])
        result = ContentBlock(kind="tool_result", id=call, text=self.words("found", 20, 400))
        self.log.add("assistant/message", [result], role="assistant", node=node, step=self.log.step)

    def interrupted(self) -> None:
        self.think_aloud([self.call()])
        self.log.user(self.words("stop", 1, 10))

    def background(self) -> None:
        call = self.call()
        log = self.log
        given = {"command": f"serve --port {5000 + self.count}", "run_in_background": True}
        node = log.assistant("", call, **{call: given})
        log.result(call, f"started as job-{self.count}")
        self.told.jobs.append(node)

    def planned(self) -> None:
        n = self.next()
        statuses = ("pending", "in_progress", "completed")
        items = [(f"item {n}.{k} of the plan", self.random.choice(statuses)) for k in range(4)]
        self.log.fact(
            "artifact/update",
            kind="todo",
            items=[{"text": text, "status": status} for text, status in items],
        )
        self.told.open_items = [text for text, status in items if status != "completed"]
        self.told.done_items += [text for text, status in items if status == "completed"]

    def rules(self) -> None:
        self.log.context(self.words("always", 1, 40), source="instructions")

    def steered(self) -> None:
        call = self.call()
        self.think_aloud([call])
        self.log.steer(self.words("rather", 1, 20))
        self.answer(call)

    def giant(self) -> None:
        call = self.call()
        self.think_aloud([call])
        self.log.result(call, self.words("row", 2_000, 6_000))

    def orphan(self) -> None:
        self.log.result(self.random.choice(["", "nobody", "c1"]), self.words("late", 1, 50))

    def checkpoint(self) -> None:
        """An earlier compaction of the user's, anywhere."""
        log = self.log
        nodes = log.nodes()
        ends = sorted(self.random.randrange(len(nodes)) for _ in range(2))
        try:
            draft = preview_region(log.session(), nodes[ends[0]], nodes[ends[1]]).draft
        except CompressError:
            return
        log.commit(draft)

    def agent_compacts(self) -> None:
        standing = self.log.fold().nodes
        self.log.compact(standing[0], standing[-1], self.words("summary", 5, 60))  # type: ignore[arg-type]

    def rewinds(self) -> None:
        standing = self.log.fold().nodes
        length = self.random.randint((len(standing) + 1) // 2, len(standing))
        self.log.rebase(standing[:length])  # type: ignore[arg-type]

    def still_running(self) -> None:
        calls = [self.call(), self.call()]
        self.told.waiting.append(self.think_aloud(calls))
        if self.random.random() < 0.5:
            self.answer(calls[0])
            self.told.waiting.append(len(self.log.events))

    def think_aloud(self, calls: list[str]) -> int:
        """A message: thinking with its signature, words, calls; an event for each block."""
        log, n = self.log, self.next()
        log.step += 1
        blocks = []
        if self.random.random() < 0.6:
            blocks.append(self.thought(n))
        if self.random.random() < 0.6:
            blocks.append(ContentBlock(kind="text", text=self.words("I will", 1, 30)))
        blocks += [self.block(call) for call in calls]
        node = len(log.events) + 1
        for block in blocks:
            seq = log.add("assistant/message", [block], role="assistant", node=node, step=log.step)
            if block.kind == "thinking":
                self.told.thinking[seq] = block.text
        return node

    def thought(self, n: int) -> ContentBlock:
        text = "hm " * self.random.choice([0, 0, 1, 20, 80])
        return ContentBlock(kind="thinking", text=text, signature=f"sig-{n}")

    def block(self, call: str) -> ContentBlock:
        name = self.random.choice(TOOLS)
        given = random_input(self.random, call)
        return ContentBlock(kind="tool_call", id=call, name=name, input=given)

    def answer(self, call: str) -> None:
        failed = self.random.random() < 0.2
        said = "src/mod.py:3: TypeError" if failed else "out"
        self.log.result(call, self.words(said, 5, 700), error=failed)

    def call(self) -> str:
        return f"c{self.next()}"

    def words(self, what: str, least: int, most: int) -> str:
        """A text that stands nowhere else, of so many words."""
        n = self.next()
        return f"{what} thing-{n} of src/mod{n}.py" + " word" * self.random.randint(least, most)

    def next(self) -> int:
        self.count += 1
        return self.count


def random_input(random: Random, call: str) -> dict[str, str]:
    """A command, or a file that is read: no two calls of a history ask for the same."""
    if random.random() < 0.5:
        return {"command": f"cat src/{call}.py"}
    return {"file_path": f"src/{call}.py"}


def legal_ends(log: Log, random: Random) -> tuple[NodeId, NodeId] | None:
    """The ends of some region of whole units; ``None`` for an empty surface."""
    measured = log.session().measure()
    if not measured.nodes:
        return None
    cuts = [*measured.units, len(measured)]
    start, stop = sorted(random.sample(range(len(cuts)), 2))
    return measured.nodes[cuts[start]], measured.nodes[cuts[stop] - 1]
