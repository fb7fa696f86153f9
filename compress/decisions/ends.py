"""What the end of a stage brings about."""

from __future__ import annotations

from compress.decisions.approvals import Approval
from compress.decisions.calls import Answer, Call
from compress.decisions.point import About
from compress.decisions.retries import Chain
from compress.decisions.span import rising
from compress.decisions.state import State
from compress.events import SessionEvent


class Ends:
    """Closes the stages of a state."""

    def __init__(self, about: About, state: State) -> None:
        self._about = about
        self._state = state

    def settle(self) -> None:
        """What is known to be over, and waited for the rest of its record."""
        state = self._state
        if state.compaction is not None and state.compaction.cleared:
            self.compaction(state.compaction.span.last)
        if state.turn is not None and state.turn.end:
            self.turn(state.turn.span.last)

    def turn(self, seq: int) -> None:
        """The turn is over, if one runs, and with it all that belongs to it."""
        state, turn = self._state, self._state.turn
        self.compaction(seq, abandoned=True)
        if turn is None:
            return
        for approval in list(state.approvals.values()):
            self.approval(approval, seq, over=True)
        for key in list(state.chains):
            self.chain(key, seq)
        self._give_up(seq, aborted=turn.aborted)
        for stage in state.items.values():
            stage.waiting.clear()
        for identity in list(state.items):
            self.item(identity, seq)
        state.corrects = state.corrects or turn.aborted
        state.turn_title = turn.asked()
        state.close(self._about, turn.span, turn.content(), seq)
        state.turn = None
        state.calls.clear()
        state.asked.clear()

    def item(self, identity: str, seq: int) -> None:
        """Close a plan's item, if nothing more can come of it."""
        stage = self._state.items.get(identity)
        if stage is not None and stage.over:
            del self._state.items[identity]
            self._state.close(self._about, stage.span, stage.content(), seq)

    def owned(self, call: Call, answer: Answer | None, event: SessionEvent, seq: int) -> None:
        """A result is in: the items in whose time its call was made have it, and may be over."""
        for identity in call.owners:
            stage = self._state.items.get(identity)
            if stage is None:
                continue
            if answer is not None:
                stage.work.answered(answer)
                stage.span.last = stage.span.revision = max(stage.span.last, seq)
            if call.id in stage.waiting:
                stage.waiting.remove(call.id)
            self.item(identity, seq)

    def approval(self, approval: Approval, seq: int, *, over: bool = False) -> None:
        """Close what a person decided on, if it is over."""
        if over or approval.over:
            self._state.approvals.pop(approval.call, None)
            self._state.close(self._about, approval.span, approval.content(), seq)

    def chain(self, key: str, seq: int) -> None:
        """Nothing more will be tried, or it worked."""
        chain = self._state.chains.pop(key)
        if chain.outcome == "unknown":
            chain.outcome = "failure"
        self._finish(chain, seq)

    def request(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """The provider answered: requests that failed before were made good."""
        request = self._state.request
        if request is None or (event.node is not None and event.node == request.broken):
            return
        self._state.request = None
        if not request.span.index:
            self._state.number(request.span)
        request.attempts = request.failures + 1
        request.outcome, request.decided = "retry", rising((seq,))
        request.span.touch(event, seq, tokens)
        self._finish(request, seq)

    def compaction(self, seq: int, *, abandoned: bool = False) -> None:
        """The compaction is over, if one runs."""
        compaction, self._state.compaction = self._state.compaction, None
        if compaction is not None:
            compaction.abandoned = abandoned
            self._state.close(self._about, compaction.span, compaction.content(), seq)

    def _give_up(self, seq: int, *, aborted: bool) -> None:
        request, self._state.request = self._state.request, None
        if request is not None:
            request.outcome = "aborted" if aborted else "failure"
            self._finish(request, seq)

    def _finish(self, chain: Chain, seq: int) -> None:
        if chain.is_stage:
            self._state.close(self._about, chain.span, chain.content(), seq)
