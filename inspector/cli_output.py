"""Sessions, surfaces and messages as lines of text for a person. Pure: a report in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from inspector.cli_paint import (
    Cell,
    Column,
    Paint,
    Style,
    age,
    bar,
    counted,
    pressure_style,
    short,
    table,
)
from inspector.reports import (
    MessagesReport,
    NodeReport,
    SessionHeader,
    SessionRow,
    SurfaceReport,
)
from inspector.sanitize import clean, line, wrap
from inspector.widgets.figures import percent
from storage.sources.registry import approximation

_STATES: dict[str, tuple[str, Style]] = {
    "running": ("●", "green"),
    "waiting": ("◆", "yellow"),
    "idle": ("○", "dim"),
    "ended": ("·", "dim"),
}
_LABELS: dict[str, tuple[str, Style]] = {
    "user/message": ("user", "cyan"),
    "steering/message": ("steering", "cyan"),
    "assistant/message": ("assistant", "bold"),
    "tool/result": ("result", "dim"),
    "context/message": ("context", "magenta"),
}


def heading(session: SessionHeader, paint: Paint, *facts: str) -> Iterator[str]:
    """Which session this is, then what view of it."""
    agent = " ".join(filter(None, (session.agent, session.agent_version)))
    name = session.title or session.id
    yield paint(line(name, paint.width), "bold")
    about = " · ".join(filter(None, (agent, session.model, session.cwd)))
    yield paint(line(about, paint.width), "dim")
    if session.approximate is not None:
        yield from (paint(row, "yellow") for row in wrap(session.approximate, paint.width))
    if facts:
        yield line(" · ".join(facts), paint.width)


def sessions_text(rows: Sequence[SessionRow], now: float, paint: Paint) -> Iterator[str]:
    """One line a session, the newest first as they came."""
    if not rows:
        yield from EMPTY_STORE
        return
    columns: tuple[Column, ...] = (
        Column("", most=1),
        Column("ID", most=LONGEST_ID),
        Column("AGENT", most=8),
        Column("PROJECT", most=14),
        Column("TITLE", flexible=True),
        Column("MODEL", most=18),
        Column("PRESSURE", most=14),
        Column("AGE", "right", most=4),
    )
    if paint.width < 100:
        columns = tuple(column for column in columns if column.title != "MODEL")
    ids = shortened([row.id for row in rows])
    yield from table(columns, [_session_cells(row, now, columns, ids) for row in rows], paint)


EMPTY_STORE = (
    "No session yet: ullage ingest reads the logs found here, or those below a PATH.",
    "Where they are looked for: ullage doctor. All of it without a log: ullage demo.",
)
"""In place of an answer that would sound as if something had been looked through."""
SHORTEST_ID, LONGEST_ID = 8, 64
_TWIN = 24
"""An id that must be printed at more than this length to be told from another is printed as its
first characters and its last."""


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Each id's shortest beginning that no other of these has, of at least 8 characters, or, where
    long ids begin alike, ``BEGINNING…END``: what is printed can be typed."""
    ordered = sorted(set(ids))
    short: dict[str, str] = {}
    for place, name in enumerate(ordered):
        beside = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        shared = max((_shared(name, other) for other in beside), default=0)
        short[name] = name[: max(SHORTEST_ID, shared + 1)]
        if len(short[name]) > _TWIN:
            short[name] = _ends_of(name, ordered) or short[name]
    return short


def _ends_of(name: str, ids: Sequence[str]) -> str | None:
    beginning = name[:SHORTEST_ID]
    twins = [other for other in ids if other != name and other.startswith(beginning)]
    shared = max(_shared(name[::-1], other[::-1]) for other in twins)
    end = name[-shared - 1 :]
    return f"{beginning}…{end}" if len(beginning) + len(end) < min(_TWIN, len(name)) else None


def _shared(one: str, other: str) -> int:
    """Characters at the beginning that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def project_name(path: str | None) -> str:
    """The last part of a project's path: what tells it apart at a glance."""
    return (path or "").replace("\\", "/").rstrip("/").rpartition("/")[2] or "–"


def _session_cells(
    row: SessionRow, now: float, columns: Sequence[Column], ids: Mapping[str, str]
) -> list[str | Cell]:
    dot, style = _STATES[row.state]
    seen = None if row.last_event_at is None else now - row.last_event_at
    pressure: str | Cell = short(row.tokens)
    if row.pressure is not None:
        mark = "▲" if row.proposed else " "
        text = f"{bar(row.pressure, 6)}{mark}{percent(row.pressure):>6}"
        pressure = Cell(text, (pressure_style(row.pressure),))
    title = row.title or row.note or ""
    if row.relation != "main":
        title = f"↳ {title}"
    cells: dict[str, str | Cell] = {
        "": Cell(dot, (style,)),
        "ID": ids[row.id],
        "AGENT": row.agent if approximation(row.agent) is None else f"≈{row.agent}",
        "PROJECT": project_name(row.project),
        "TITLE": title if row.title else Cell(title, ("dim",)),
        "MODEL": row.model or "–",
        "PRESSURE": pressure,
        "AGE": age(seen),
    }
    return [cells[column.title] for column in columns]


def surface_text(report: SurfaceReport, paint: Paint) -> Iterator[str]:
    """The surface, one line a node."""
    tokens = sum(node.tokens for node in report.nodes)
    yield from heading(
        report.session,
        paint,
        f"{report.track} track, {report.view} view at {report.at_seq or 'the start'}",
        counted(len(report.nodes), "node"),
        f"{tokens:,} tokens by {report.counter}",
    )
    yield ""
    if report.nodes:
        yield from node_lines(report.nodes, paint)
    else:
        yield f"Nothing stood in the window at event {report.at_seq or 0}."
    if report.problems:
        yield ""
        yield paint(f"{counted(len(report.problems), 'problem')} in this log:", "yellow")
        for problem in report.problems:
            yield line(f"  {problem.kind} at {problem.where}: {problem.detail}", paint.width)


def node_lines(nodes: Sequence[NodeReport], paint: Paint) -> Iterator[str]:
    """A table of nodes, the bar to the scale of the largest of them."""
    most = max((node.tokens for node in nodes), default=0)
    columns = (
        Column("SEQ", "right", most=7),
        Column("", most=2),
        Column("NODE", most=10),
        Column("TOKENS", "right", most=9),
        Column("", most=8),
        Column("HEADLINE", flexible=True),
    )
    yield from table(columns, [_node_cells(node, most) for node in nodes], paint)


def _node_cells(node: NodeReport, most: int) -> list[str | Cell]:
    label, style = _LABELS.get(node.type, (node.type, "dim"))
    called = node.tool if node.type == "tool/result" else None
    headline = f"{called}: {node.headline}" if called else node.headline
    if node.checkpoint is not None:
        label, style = "checkpoint", "magenta"
        shadowed = len(node.checkpoint.shadowed_seqs)
        headline = f"[{counted(shadowed, 'node')}, by the {node.checkpoint.origin}] {headline}"
    elif node.receipt:
        label = "receipt"
    marks = "".join(
        mark
        for mark, set_ in (
            ("◆", node.pinned),
            ("!", node.is_error),
            ("?", node.orphan),
            ("↺", node.restored),
        )
        if set_
    )
    return [
        str(node.seq),
        Cell(marks, ("yellow",)),
        Cell(label, (style,)),
        f"{node.tokens:,}",
        Cell(bar(node.tokens / most if most else 0, 8), ("blue",)),
        Cell(headline, ("red",)) if node.is_error else headline,
    ]


def messages_text(report: MessagesReport, paint: Paint) -> Iterator[str]:
    """The exact messages, in full, each block under a rule that names it."""
    yield from heading(
        report.session,
        paint,
        f"{report.track} track, {report.view} view at {report.at_seq or 'the start'}",
        counted(len(report.messages), "message"),
    )
    for message in report.messages:
        seqs = ", ".join(map(str, message.seqs))
        yield ""
        yield paint(line(f"── {message.role} · {seqs} ", paint.width), "bold")
        for block in message.blocks:
            name = " ".join(filter(None, (block.kind, block.name, block.id)))
            if block.kind != "text":
                yield paint(line(f"   {name}", paint.width), "dim")
            if block.input is not None:
                yield from _value_lines(block.input)
            if block.text:
                yield from clean(block.text).split("\n")


def _value_lines(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield from clean(str(value)).split("\n")
        return
    for key, item in value.items():
        yield from clean(f"{key} = {item}").split("\n")
