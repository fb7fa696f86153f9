"""One session in a log of Copilot CLI: what stands on its surface, and the events that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.events import EventType, Rebase, Replace, SessionEvent, SurfaceOp, Usage
from storage.sources.base import Numbering, SessionFacts
from storage.sources.copilot_records import Said
from storage.sources.draft import APPEND, NO_META, event, mark, rebase, word
from storage.sources.values import count

EXTRA_BLOCKS = 1 << 20
"""Block index of a record's first event beside its content: behind any content."""
_Instruction = tuple[str | None, str]
"""Role and name."""


class CopilotSession:
    """Makes the events of the record at hand."""

    def __init__(self, key: str, name: str, numbering: Numbering) -> None:
        self.facts = SessionFacts(key=key, native_id=name)
        self.events: list[SessionEvent] = []
        self.turn = 0
        self.asked: dict[str, str] = {}
        """Open question → the call that it is about, or nothing."""
        self.declined: set[str] = set()
        """Calls that a person or a rule refused."""
        self.calls_open: set[str | None] = set()
        """Calls of the newest answer that nothing answered yet."""
        self._number = numbering.seq
        self._native = ""
        self._time: float | None = None
        self._line = 0
        self._extra = 0
        self._step = 0
        self._steps: dict[str | None, int] = {}
        """Call → the request that made it."""
        self._standing: list[int] = []
        self._asked_for: set[int] = set()
        """Nodes with words of the user's."""
        self._came: dict[int, int] = {}
        """Node → the line that it came with."""
        self._callers: dict[str | None, int] = {}
        """Call → the node that made it."""
        self._answers: dict[str, int] = {}
        """Request to the provider → the node that it produced."""
        self._instructions: dict[int, tuple[_Instruction, str]] = {}
        """Node → which instruction it is, and its text."""
        self._current: dict[_Instruction, int] = {}
        """Instruction → its node that stands."""
        self._lines: dict[str, int] = {}
        """Record → its line."""
        self._before: list[tuple[int, list[int]]] = []
        """Line of each operation that took nodes away, and what stood before it."""
        self._inserted = 0
        """Line of the newest record that came to stand between others."""
        self._compactions: list[tuple[int, bool]] = []
        """Lines at which a compaction began, or ended."""

    def begin(self, native: str, line: int, time: float | None) -> None:
        """A record follows."""
        self.events, self._extra = [], 0
        self._native, self._line, self._time = native, line, time
        self._lines.pop(native, None)  # so that the newest line is the last one
        self._lines[native] = line

    def log(
        self,
        kind: EventType,
        meta: Mapping[str, Any] = NO_META,
        *,
        usage: Usage | None = None,
        request: int | None = None,
    ) -> None:
        """A log-only event."""
        block = self._next_extra()
        seq = self._number(self._native, block)
        self.events.append(
            event(
                seq,
                kind,
                self._native,
                block,
                turn=self.turn or None,
                step=self._step or None,
                time=self._time,
                model=self.facts.model if usage is not None else None,
                usage=usage,
                request=(request or seq) if usage is not None else None,
                meta=meta,
            )
        )

    def use_model(self, model: Any, window: Any = None) -> None:
        """Notes which model, and which window, requests have from here on."""
        facts = self.facts
        name, size = word(model) or facts.model, count(window) or facts.window
        if (name, size) != (facts.model, facts.window):
            facts.model, facts.window = name, size
            told = {"model": name, "window": size}
            self.log("request/header", {k: v for k, v in told.items() if v is not None})

    def append(self, said: Said, *, node: int | None = None, step: int | None = None) -> int:
        """What the record says becomes the last node, or goes on with one. Gives the node."""
        return self._stand(said, APPEND, node=node, step=step)

    def answer(self, said: Said, request: str | None, output: int | None) -> None:
        """A message of the model's; several of one request are one node."""
        node = self._answers.get(request or "")
        if node is None or node not in reversed(self._standing):
            node = None
            self._step += 1
            self.calls_open = set()
        cost = None if output is None else Usage(output=output)
        first = len(self.events)
        node = self.append(said, node=node, step=self._step)
        if cost is not None:
            priced = self.events[first].model_copy(update={"usage": cost, "request": node})
            self.events[first] = priced
        if request is not None:
            self._answers[request] = node
        for call in (block.id for block in said.parts if block.kind == "tool_call"):
            self._steps[call], self._callers[call] = self._step, node
            self.calls_open.add(call)

    def result(self, said: Said) -> None:
        """What a tool gave; one that the user ran answers no call of the model's."""
        call = said.parts[0].id
        self.calls_open.discard(call)
        if call is not None and call in self.declined:
            said = said._replace(meta={"declined": True})
        self.append(said, step=self._steps.get(call))

    def instruct(self, said: Said, name: str) -> None:
        """An instruction. The same again says nothing new; another takes its place."""
        which, text = (said.role, name), said.parts[0].text
        old = self._current.get(which)
        if old is not None and self._instructions[old][1] == text:
            return
        if old is None:
            node = self.append(said)
        else:
            before = list(self._standing)
            self._before.append((self._line, before))
            seq = self._number(self._native, 0)
            wanted = [seq if one == old else one for one in before]
            node = self._stand(said, rebase(wanted))
            self._standing = wanted
        self._instructions[node] = which, text
        self._current[which] = node

    def cost(self, usage: Usage, request: str | None) -> None:
        """What a request cost, told apart from its answer."""
        self.log("usage", usage=usage, request=self._answers.get(request or ""))

    def end_turn(self, reason: str) -> None:
        """The turn is over, if one was open."""
        if self.facts.turn_open:
            self.facts.turn_open = False
            self.log("turn/end", {"reason": reason})

    def announce(self, trigger: str, tokens: int | None) -> None:
        """A compaction begins; the session goes on beside it."""
        self._compactions.append((self._line, True))
        told = {"trigger": trigger or None, "pre_tokens": tokens}
        self.log("compact/start", {k: v for k, v in told.items() if v is not None})

    def give_up(self, why: str) -> None:
        """A compaction came to nothing."""
        self._compactions.append((self._line, False))
        self.log("compact/end", {"error": why or "failed"})

    def compact(self, said: Said, data: dict[str, Any]) -> None:
        """The summary takes the place of all that stood when the compaction began."""
        if not (self._compactions and self._compactions[-1][1]):
            self.announce("", count(data.get("preCompactionTokens")))
        began = self._compactions[-1][0]
        self._compactions.append((self._line, False))
        told = {
            "message": "".join(part.text for part in said.parts)[:500],
            "messages_removed": count(data.get("messagesRemoved")),
        }
        self.log("compact/summary", {k: v for k, v in told.items() if v})
        earlier = [n for n in self._standing if self._is_said(n) and self._came[n] < began]
        # The user's words are told again beside the summary.
        stays = {node for node in earlier if node in self._asked_for}
        stays.update(earlier[max(0, len(earlier) - self._left_of(data)) :])
        self._take_away([node for node in earlier if node not in stays], said)
        self.log("compact/end")

    def _left_of(self, data: dict[str, Any]) -> int:
        """How many of the newest messages a compaction left, as far as its counts tell; they
        count the instructions, too."""
        before = count(data.get("preCompactionMessagesLength")) or 0
        instructions = sum(not self._is_said(node) for node in self._standing)
        return max(0, before - (count(data.get("messagesRemoved")) or before) - instructions)

    def truncate(self, data: dict[str, Any]) -> None:
        """So many messages went; which ones is not told, so the oldest."""
        number = count(data.get("messagesRemovedDuringTruncation")) or 0
        told = {"trigger": "truncation"}
        tokens = count(data.get("preTruncationTokensInMessages"))
        self.log("compact/start", told if tokens is None else {**told, "pre_tokens": tokens})
        gone = [node for node in self._standing if self._is_said(node)][:number]
        self._mark([node for node in self._standing if node not in {*gone}], "checkpoint", "agent")
        self.log("compact/end")

    def clear(self, said: Said) -> None:
        """Only the instructions stay, and a first message where there is one."""
        if not said.parts:
            self._mark([n for n in self._standing if not self._is_said(n)], "marker", "clear")
            return
        told = [node for node in self._standing if not self._is_said(node)]
        self._before.append((self._line, self._standing))
        wanted = [*told, self._number(self._native, 0)]
        self._stand(said, rebase(wanted))
        self._standing = wanted

    def rewind(self, target: str) -> None:
        """Takes back the record and all after it, operations included."""
        line = self._lines.get(target)
        if line is None:
            return
        stood: list[int] | None = None
        while self._before and self._before[-1][0] >= line:
            stood = self._before.pop()[1]
        while self._compactions and self._compactions[-1][0] >= line:
            self._compactions.pop()
        while self._lines and next(reversed(self._lines.values())) >= line:
            self._lines.popitem()
        if stood is None and self._inserted < line:
            self._take_last(line)
            return
        stood = self._standing if stood is None else stood
        self._mark([n for n in stood if self._came[n] < line], "marker", "rewind", keeps=True)
        told = [node for node in self._standing if not self._is_said(node)]
        self._current = {self._instructions[node][0]: node for node in told}

    def _take_last(self, line: int) -> None:
        """What came since this line stands last: it goes."""
        standing, length = self._standing, len(self._standing)
        while standing and self._came[standing[-1]] >= line:
            node = standing.pop()
            if not self._is_said(node):
                self._current.pop(self._instructions[node][0], None)
        if len(standing) < length:
            self._tell(rebase((), standing[-1] if standing else None), {"marker": "rewind"})

    def _is_said(self, node: int) -> bool:
        """Whether it is no instruction."""
        return node not in self._instructions

    def _take_away(self, gone: Sequence[int], said: Said) -> None:
        """These nodes go, and what the record says takes the place of the first message."""
        before = list(self._standing)
        if not said.parts:
            kept = [node for node in before if node not in {*gone}]
            self._mark(kept, "checkpoint", "agent")
        elif not gone:
            # All of it went before; what came meanwhile stands behind the summary.
            told = [node for node in before if not self._is_said(node)]
            since = [node for node in before if self._is_said(node)]
            wanted = (*told, self._number(self._native, 0), *since)
            self._stand(said, rebase(wanted) if since else APPEND)
            if since:
                self._standing, self._inserted = [*wanted], self._line
        else:
            first = next(at for at, node in enumerate(before) if self._is_said(node))
            last = before.index(gone[-1])
            kept = [node for node in before[first : last + 1] if node not in {*gone}]
            op = Replace(start=before[first], end=gone[-1], keep=tuple(kept))
            node = self._stand(said, op, sources=tuple(gone))
            self._before.append((self._line, before))
            self._standing = [*before[:first], node, *kept, *before[last + 1 :]]

    def _mark(self, wanted: Sequence[int], fact: str, value: str, *, keeps: bool = False) -> None:
        """Other nodes stand now, and no message said so. ``keeps``: what stood is not noted."""
        if list(wanted) == self._standing:
            return
        if not keeps:
            self._before.append((self._line, self._standing))
        self._standing = list(wanted)
        self._tell(rebase(wanted), {fact: value})

    def _tell(self, op: Rebase, meta: Mapping[str, Any]) -> None:
        """An event of its own that says what stands now."""
        block = self._next_extra()
        seq = self._number(self._native, block)
        made = mark(seq, self._native, block, op, turn=self.turn, time=self._time, meta=meta)
        self.events.append(made)

    def _stand(
        self,
        said: Said,
        op: SurfaceOp,
        *,
        node: int | None = None,
        step: int | None = None,
        sources: tuple[int, ...] = (),
    ) -> int:
        first = self._number(self._native, 0)
        seqs = [self._number(self._native, block) for block in range(1, len(said.parts))]
        name = first if node is None else node
        for block, seq in enumerate([first, *seqs]):
            self.events.append(
                event(
                    seq,
                    said.type,
                    self._native,
                    block,
                    node=name,
                    op=op if block == 0 else APPEND,
                    role=said.role,
                    blocks=said.parts[block : block + 1],
                    turn=self.turn or None,
                    step=step,
                    time=self._time,
                    model=self.facts.model if said.role == "assistant" else None,
                    source_event_seqs=(*sources, seq) if sources and block == 0 else (),
                    meta=said.meta,
                )
            )
        if node is None:
            self._standing.append(name)
            self._came[name] = self._line
            if said.type in ("user/message", "steering/message"):
                self._asked_for.add(name)
        return name

    def _next_extra(self) -> int:
        block = EXTRA_BLOCKS + self._extra
        self._extra += 1
        return block
