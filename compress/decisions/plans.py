"""Events about plans, their items, and what a person decides."""

from __future__ import annotations

from compress.decisions.approvals import Approval, headline, word
from compress.decisions.calls import Answer, Call
from compress.decisions.ends import Ends
from compress.decisions.items import Change, ItemStage, compare, items_of
from compress.decisions.span import Told
from compress.decisions.state import State
from compress.decisions.values import StageKind
from compress.decisions.words import title
from compress.events import SessionEvent


class Plans:
    """Applies these events to a state."""

    def __init__(self, state: State, ends: Ends) -> None:
        self.state = state
        self._ends = ends

    def listed(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """A list of items as it stands now, or the text of a plan."""
        state = self.state
        kind = word(event.meta, "kind")
        explanation = word(event.meta, "explanation")
        if explanation and kind == "plan":
            state.record_plan = (explanation, (seq,))
        reason = word(event.meta, "rationale")
        why = (reason, (seq,)) if reason else state.record_reason
        if why[0] and state.turn is not None:
            state.turn.work.reason(2, why[0], *why[1])
        after = items_of(event.meta)
        if after is None:
            return
        changes, gone = compare(state.lists.get(kind, []), after)
        state.lists[kind] = after
        for item in gone:
            if item.stage in state.items:
                state.items[item.stage].dropped = seq
                self._ends.item(item.stage, seq)
        for change in changes:
            self._change(change, f"{event.native_id}/{kind}/{change.place}", why, event, seq)
        for item in after:
            stage = state.items.get(item.stage)
            if stage is not None and stage.title[0] != item.text:
                stage.title = (item.text, (seq,))

    def _change(
        self, change: Change, identity: str, why: Told, event: SessionEvent, seq: int
    ) -> None:
        state, item = self.state, change.item
        if change.began:
            span = state.span("plan_item", identity, event, 0)
            state.number(span)
            item.stage = span.identity
            state.items[item.stage] = ItemStage(span, (item.text, (seq,)))
        stage = state.items.get(item.stage)
        if stage is None or not change.completed:
            return
        stage.completed = seq
        if why[0]:
            stage.work.reason(2, why[0], *why[1])
        self._ends.item(item.stage, seq)
        item.stage = ""

    def asked(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """A person is asked."""
        state = self.state
        identity = word(event.meta, "call", "callId") or f"{event.native_id}/{event.block}"
        if question := word(event.meta, "id"):
            state.asked[question] = identity
        call = state.calls.get(identity)
        if identity not in state.approvals and not (call is not None and call.decided):
            self._approval(identity, event, seq, tokens)

    def _approval(self, identity: str, event: SessionEvent, seq: int, tokens: int) -> Approval:
        state = self.state
        call = state.calls.get(identity)
        plan = state.record_plan
        kind: StageKind = "plan" if plan[0] else "approval"
        if call is not None:
            call.decided = True
            span = state.span_of(kind, call)
            span.touch(event, seq, tokens)
        else:
            span = state.span(kind, f"{event.native_id}/{identity}", event, tokens)
        state.number(span)
        named = (
            title([(plan[0], seq) for seq in plan[1]])
            if plan[0]
            else headline(call, event.meta, seq)
        )
        reason = word(event.meta, "reason")
        made = Approval(span, identity, named, plan=plan)
        if call is not None and call.reason:
            made.reason = (call.reason, (call.seq,))
        elif reason:
            made.reason = (reason, (seq,))
        state.approvals[identity] = made
        return made

    def decided(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """A person decided."""
        state = self.state
        question = word(event.meta, "id")
        identity = word(event.meta, "call", "callId") or state.asked.pop(question, "") or question
        approval = state.approvals.get(identity)
        call = state.calls.get(identity)
        if approval is None and call is not None and call.decided:
            return  # told again
        if approval is None:
            approval = self._approval(identity, event, seq, tokens)
        else:
            approval.span.touch(event, seq, tokens)
        approval.decide(event.meta, seq)
        if call is not None and call.result and not approval.result:
            self._already(approval, call)
        steering = approval.steering()
        if steering is not None and state.turn is not None:
            state.turn.steer(steering.kind, steering.text, seq)
        if approval.decision == "answered" and approval.message:
            for work in state.works():
                work.reason(0, approval.message, seq)
        self._ends.approval(approval, seq)

    @staticmethod
    def _already(approval: Approval, call: Call) -> None:
        if call.reading is not None:
            approval.answer(Answer(call, call.reading, call.result))
        else:
            approval.result = call.result
