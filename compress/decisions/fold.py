"""One event after another: which stages it begins, feeds and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compress.decisions.approvals import word
from compress.decisions.calls import Answer, call_of
from compress.decisions.compactions import note_tokens, started, take_summary
from compress.decisions.ends import Ends
from compress.decisions.plans import Plans
from compress.decisions.point import NOTHING, About
from compress.decisions.results import Judge
from compress.decisions.retries import Chain
from compress.decisions.state import State
from compress.decisions.turns import Turn
from compress.decisions.values import Evidence, Steering, SteeringKind
from compress.decisions.words import WORDS, text_of
from compress.decisions.work import keep
from compress.events import ContentBlock, SessionEvent
from compress.markup import is_wrapped

_BROKEN = ("error", "aborted")
_OVER = {"stop": "completed", "length": "completed", "aborted": "aborted"}
"""pi's stop reasons that end a turn."""
_NO_ERRORS = ("gap", "cycle", "filler")
"""``error`` events about the log itself, or about filler that the agent wrote."""
_COPIES = ("user/message", "context/message", "steering/message")


class Fold:
    """Applies events to a state. What a stage's end brings about is the part of :class:`Ends`."""

    def __init__(self, about: About, judge: Judge, state: State) -> None:
        self.state = state
        self._judge = judge
        self._ends = Ends(about, state)
        plans = Plans(state, self._ends)
        self._handlers: Mapping[str, Callable[[SessionEvent, int, int], None]] = {
            "user/message": self._spoken,
            "steering/message": self._steered,
            "context/message": self._context,
            "assistant/message": self._replied,
            "tool/result": self._result,
            "artifact/update": plans.listed,
            "approval/request": plans.asked,
            "approval/decision": plans.decided,
            "error": self._failed,
            "retry": self._failed,
            "compact/start": self._compaction_begins,
            "compact/summary": self._summed_up,
            "compact/end": self._compaction_ends,
            "turn/end": self._turn_ends,
        }

    def feed(self, event: SessionEvent, tokens: int) -> None:
        """See :meth:`compress.decisions.harvest.Harvest.feed`."""
        state, seq = self.state, event.seq
        if not isinstance(seq, int) or seq <= state.last_seq:
            return
        state.last_seq = seq
        if event.native_id != state.record:
            self.settle()
            state.record = event.native_id
            state.record_names = {}
            for identity in state.answered:
                if identity in state.calls and state.calls[identity].result:
                    del state.calls[identity]
            state.answered = []
            state.record_reason = state.record_plan = NOTHING
        if self._is_copy(event):
            self._compacted(event, seq, tokens)
            return
        self._turn_of(event, seq, tokens)
        self._touch(event, seq, tokens)
        handle = self._handlers.get(event.type)
        if handle is not None:
            handle(event, seq, tokens)

    def settle(self) -> None:
        """Close what waited for its record to be over."""
        self._ends.settle()

    # -- where an event belongs -----------------------------------------------------------------

    def _is_copy(self, event: SessionEvent) -> bool:
        """A message that a compaction put there."""
        compaction = self.state.compaction
        if compaction is None or compaction.cleared or event.type not in _COPIES:
            return False
        return event.turn is None or event.turn <= self.state.turn_number

    def _turn_of(self, event: SessionEvent, seq: int, tokens: int) -> None:
        state, number = self.state, event.turn
        if number is None:
            return
        goes_on = False
        if number == state.turn_number and state.turn is None:
            goes_on = event.type == "assistant/message"
        if number <= state.turn_number and not goes_on:
            return
        self._ends.turn(seq)
        state.turn_number = number
        span = state.span("turn", event.native_id, event, 0)
        state.number(span)
        turn = Turn(number, span)
        if goes_on:
            turn.carried = state.turn_title
        turn.corrects, state.corrects = state.corrects, False
        turn.steering, state.between = state.between, []
        state.turn = turn

    def _touch(self, event: SessionEvent, seq: int, tokens: int) -> None:
        state = self.state
        if state.turn is not None and event.turn == state.turn.number:
            state.turn.span.touch(event, seq, tokens)
        elif state.turn is not None and event.type in self._handlers:
            # Of no turn itself, it may still change what the running one has to say.
            state.turn.span.revision = max(state.turn.span.revision, seq)
        for stage in state.items.values():
            if not stage.completed:
                stage.span.touch(event, seq, tokens)
        if state.compaction is not None:
            state.compaction.span.touch(event, seq, tokens)

    # -- the person -----------------------------------------------------------------------------

    def _spoken(self, event: SessionEvent, seq: int, tokens: int) -> None:
        text = text_of(event.blocks)
        turn = self.state.turn
        node = event.node if isinstance(event.node, int) else None
        if turn is not None and turn.speak(text, seq, node):
            return
        if text.strip() and not is_wrapped(text):
            self._steer("message", text, seq)

    def _steered(self, event: SessionEvent, seq: int, tokens: int) -> None:
        text = text_of(event.blocks) or word(event.meta, "text")
        if text.strip() and not is_wrapped(text):
            self._steer("message", text, seq)

    def _context(self, event: SessionEvent, seq: int, tokens: int) -> None:
        if event.meta.get("source") == "interrupt":
            self._steer("interruption", "", seq)
        elif event.meta.get("marker") == "rewind":
            self.state.corrects = True
            self._steer("rewind", "", seq)

    def _steer(self, kind: SteeringKind, text: str, seq: int) -> None:
        if self.state.turn is not None:
            self.state.turn.steer(kind, text, seq)
            return
        item = Steering(kind=kind, text=text.strip()[:WORDS], source_event_seqs=(seq,))
        keep(self.state.between, item)

    # -- the agent ------------------------------------------------------------------------------

    def _replied(self, event: SessionEvent, seq: int, tokens: int) -> None:
        state = self.state
        stop = event.meta.get("stop")
        if stop in _BROKEN:
            if state.request is not None and isinstance(event.node, int):
                state.request.broken = event.node
                state.request.attempts += 1
        else:
            self._ends.request(event, seq, tokens)
            if state.turn is not None:
                state.turn.broken = 0
        works = state.works()
        for block in event.blocks:
            if block.kind == "text":
                for work in works:
                    work.say(block.text, seq)
            elif block.kind == "tool_call":
                self._called(block, event, seq, tokens)
        if state.turn is not None and isinstance(stop, str) and stop in _OVER:
            state.turn.end, state.turn.ended, state.turn.status = _OVER[stop], seq, stop
            if stop == "aborted":
                state.turn.steer("interruption", "", seq)

    def _called(self, block: ContentBlock, event: SessionEvent, seq: int, tokens: int) -> None:
        state = self.state
        call = call_of(block, event, seq, tokens)
        call.identity = state.named("call:", call.identity)
        state.record_reason = (call.reason, (seq,)) if call.reason else NOTHING
        for identity, stage in state.items.items():
            if not stage.completed:
                call.owners.append(identity)
                stage.waiting.append(call.id)
        for work in state.works():
            work.called(call)
        state.calls[call.id] = call

    def _result(self, event: SessionEvent, seq: int, tokens: int) -> None:
        if event.meta.get("receipt") is True:
            self._cleared(event, seq, tokens)
            return
        for block in event.blocks:
            call = self.state.calls.get(block.id or "")
            answers = block.kind in ("tool_result", "synthetic")
            # A result that is told again (an edit, a revision) was judged at first sight.
            if call is None or not answers or call.result:
                continue
            call.result = seq
            self.state.answered.append(call.id)
            if event.meta.get("declined") is True:
                self._ends.owned(call, None, event, seq)
                continue
            call.reading = self._judge.read(call.command, block.text, block.is_error)
            answer = Answer(call, call.reading, seq)
            if self.state.turn is not None:
                self.state.turn.work.answered(answer)
            self._ends.owned(call, answer, event, seq)
            self._tried(answer, event, tokens)
            approval = self.state.approvals.get(call.id)
            if approval is not None:
                approval.span.touch(event, seq, tokens)
                approval.answer(answer)
                self._ends.approval(approval, seq)

    def _tried(self, answer: Answer, event: SessionEvent, tokens: int) -> None:
        """Whether the call failed, or made good what had failed."""
        state, call, reading = self.state, answer.call, answer.reading
        if call.sort == "looked" or call.background or answer.unclear:
            return
        chain = state.chains.get(call.key)
        if chain is None:
            if not reading.failed:
                return
            chain = Chain(state.span_of("retry", call), (call.headline, (call.seq,)))
            chain.reason = (call.reason, (call.seq,)) if call.reason else NOTHING
            state.chains[call.key] = chain
        elif call.seq < chain.decided[-1]:
            return  # made before the failure was known
        else:
            chain.span.tokens += call.tokens
            if not chain.is_stage:
                state.number(chain.span)
        chain.attempts += 1
        chain.failures += reading.failed
        chain.work.answered(answer)
        chain.decided = (call.seq, answer.seq)
        chain.span.touch(event, answer.seq, tokens)
        if not reading.failed:
            chain.outcome = "retry"
            self._ends.chain(call.key, answer.seq)

    def _failed(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """An ``error`` or a ``retry`` of a request to the provider."""
        state = self.state
        if event.meta.get("kind") in _NO_ERRORS:
            return
        message = word(event.meta, "message")
        if state.request is None:
            span = state.span("retry", event.native_id, event, tokens)
            state.request = Chain(span, (message or event.type, (seq,)), attempts=1)
        else:
            state.request.span.touch(event, seq, tokens)
        request = state.request
        was_stage = request.is_stage and bool(request.span.index)
        request.told = request.told or event.type == "retry"
        request.fail(message, seq)
        request.attempts = max(request.attempts, request.failures)
        request.decided = (seq,)
        if request.is_stage and not was_stage:
            state.number(request.span)
        if event.type == "error" and state.turn is not None:
            state.turn.broken = seq
            error = Evidence(kind="error", text=message[:300], source_event_seqs=(seq,))
            state.turn.work.note(error)

    # -- compactions ------------------------------------------------------------------------------

    def _compaction_begins(self, event: SessionEvent, seq: int, tokens: int) -> None:
        state = self.state
        self._ends.compaction(seq, abandoned=True)
        span = state.span("compaction", event.native_id, event, tokens)
        state.number(span)
        state.compaction = started(span, event, seq)

    def _compacted(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """A message between the start and the end of a compaction."""
        self._touch(event, seq, tokens)
        compaction = self.state.compaction
        if compaction is not None and event.meta.get("checkpoint"):
            compaction.checkpoint = seq
            take_summary(compaction, event, text_of(event.blocks), seq)

    def _summed_up(self, event: SessionEvent, seq: int, tokens: int) -> None:
        if self.state.compaction is not None and not self.state.compaction.cleared:
            take_summary(self.state.compaction, event, "", seq)
            note_tokens(self.state.compaction, event, seq)

    def _compaction_ends(self, event: SessionEvent, seq: int, tokens: int) -> None:
        compaction = self.state.compaction
        if compaction is not None and not compaction.cleared:
            compaction.ended = seq
            compaction.error = word(event.meta, "error")
            note_tokens(compaction, event, seq)
            self._ends.compaction(seq)

    def _cleared(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """The agent cleared an old result: a compaction of its own, record by record."""
        state = self.state
        if state.compaction is None:
            span = state.span("compaction", event.native_id, event, tokens)
            state.number(span)
            state.compaction = started(span, event, seq)
            state.compaction.title = ("micro-compaction", (seq,))
        if state.compaction.cleared or state.compaction.span.first == seq:
            state.compaction.cleared.append(seq)

    def _turn_ends(self, event: SessionEvent, seq: int, tokens: int) -> None:
        turn = self.state.turn
        if turn is None or event.turn != turn.number:
            return
        turn.end = turn.status = word(event.meta, "reason") or "completed"
        turn.ended = seq
        if turn.aborted and all(item.kind != "interruption" for item in turn.steering):
            turn.steer("interruption", "", seq)
        self._ends.turn(seq)
