"""The pressure report: what the meter says, in the shape that everyone prints."""

from __future__ import annotations

from collections.abc import Callable

from compress.events import NodeId
from compress.meter import (
    Reading,
    TokenMeter,
    Window,
    accuracy,
    decide_window,
    slope,
    steps_left,
    thresholds,
)
from compress.plan import PlanState
from inspector.loaded import LoadedSession
from inspector.reports import (
    Composition,
    Forecast,
    MeterError,
    PressureReport,
    RequestReport,
    SessionHeader,
    Thresholds,
    Track,
)
from inspector.settings import Settings
from storage import resources


def window_of(loaded: LoadedSession, meter: TokenMeter, settings: Settings) -> Window:
    """The context window in force for the session's present model, and who says so."""
    reading = meter.reading()
    model = reading.model or loaded.record.model
    return decide_window(
        setting=settings.window_for(model),
        logged=loaded.record.log_window,
        observed=reading.observed,
        table=resources.table_window(model),
    )


def pressure_report(
    loaded: LoadedSession,
    settings: Settings,
    header: SessionHeader,
    *,
    track: Track,
    at: NodeId | None,
    live: bool,
    plan: Callable[[], PlanState],
) -> PressureReport:
    """How full the window is. No provider has seen the plan, nor what a resume would send again
    after a micro-compaction: there it is estimated."""
    meter = loaded.meter(at)
    reading = meter.reading()
    window = window_of(loaded, meter, settings)
    limits = thresholds(window.tokens, settings.micro_high, settings.threshold_ratio)
    if track == "plan":
        reading = reading_of_plan(meter, plan())
    elif not live:
        sent = loaded.fold("resume", at).nodes
        if sent != loaded.fold("live", at).nodes:
            reading = meter.reading_of(sent)
    step = slope([r.actual_input for r in meter.requests if r.actual_input is not None])
    error = accuracy(meter.requests)
    return PressureReport(
        session=header,
        model=reading.model or loaded.record.model,
        window=window.tokens,
        window_source=window.source,
        view="live" if live else "resume",
        track=track,
        at_seq=at if at is not None else loaded.record.last_seq,
        used=reading.used,
        used_source=reading.used_source,
        overhead=reading.overhead,
        composition=Composition(**reading.composition),
        tool_results_by_tool=dict(reading.tool_results_by_tool),
        thresholds=Thresholds(micro=limits.micro, compact=limits.compact),
        proposed=limits.proposed(reading.used),
        forecast=Forecast(
            steps_to_micro=steps_left(reading.used, limits.micro, step),
            steps_to_compact=steps_left(reading.used, limits.compact, step),
        ),
        requests=tuple(
            RequestReport(
                seq=r.seq,
                model=r.model,
                actual_input=r.actual_input,
                predicted_input=r.predicted_input,
                tail_counted=r.tail_counted,
            )
            for r in meter.requests
        ),
        compactions=tuple(meter.compactions),
        error=MeterError(
            n=error.n,
            median_ape_increment=error.median_of_increment,
            p90_ape_increment=error.p90_of_increment,
            median_ape_total=error.median_of_total,
        ),
    )


def reading_of_plan(meter: TokenMeter, state: PlanState) -> Reading:
    """The plan's own size: as the provider says while nothing is changed, else the agent's nodes
    as the meter weighs them and the operations' text as it is counted."""
    if not state.restored and not any(operation.changes for operation in state.standing()):
        return meter.reading()
    surface = state.surface
    new = sum(
        state.entries[seq].tokens
        for node in surface.nodes
        if isinstance(node, str)
        for seq in surface.members[node]
    )
    return meter.reading_of(surface.nodes, new)
