"""Filter → group → deduplicate → truncate: a tool's output, reduced."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from compress.reduction.clean import Cleaned, clean
from compress.reduction.critical import NOTICE, VERDICT, Assessor, Marks
from compress.reduction.deduplicate import deduplicate
from compress.reduction.group import group
from compress.reduction.items import Item
from compress.reduction.profile import Profile
from compress.reduction.rank import Worth, rank
from compress.reduction.render import Frame, Rendering, Style, is_reduced, render, sign_for
from compress.reduction.shorten import clip, shorten
from compress.reduction.sieve import Excerpt
from compress.reduction.truncate import Pool
from compress.reduction.values import Budget, Reduction, StageReport
from compress.tokens import TokenCounter, count_many

CEILING_SHARE = 0.6
CEILING_TOKENS = 2_000
"""Without a budget, critical lines and their context may take that share of the tokens, and up to
so many tokens whatever their share: a short output that is all failures is shown."""
_BARE_BELOW = 200
_SHORT_BELOW = 240
"""Budgets in tokens below which header and marks are the shorter ones."""
_OVERHEAD, _MARK = 30, 5
"""Tokens of a full header and of a mark, about."""
_CLIPPED = 2
"""Characters a token of the budget, to which a line is cut that alone would take half of it."""
_ROUNDS = 6


def reduce(
    text: str,
    profile: Profile,
    counter: TokenCounter,
    budget: Budget | None = None,
    *,
    pointer: str | None = None,
    exit_code: int | None = None,
    generic: Profile | None = None,
    excerpt: Excerpt | None = None,
) -> Reduction:
    """The output with what matters in it, in its order. Never raises for what a text holds.

    ``budget``: ``None`` for the profile's own strength. ``pointer``: the short name of the stored
    whole, printed in header and marks. ``generic``: the profile whose critical patterns hold
    beside the profile's own, and which takes over where ``match.output`` recognises no line.
    ``excerpt``: given where the text is not the whole output; lines are counted in the whole then,
    a share of the budget is one of the text.

    The result is never longer, in tokens, than the text; where nothing is gained, and where the
    text is a reduction already, it is the text itself. A budget is kept to, but for the header.
    """
    before = counter.count(text)
    limit = before if budget is None else budget.of(before)
    small = before <= (profile.truncate.floor if budget is None else limit)
    if excerpt is None and (small or is_reduced(text)):
        return _untouched(text, profile, before, exit_code, pointer)
    cleaned = clean(text) if excerpt is None else excerpt.placed(clean(text))
    profile, marks = _assess(cleaned, profile, generic)
    success = _succeeded(profile, marks, exit_code)
    items, reports = _stages(cleaned, marks, profile, generic, counter)
    worths = rank(items, profile.truncate, success)
    sign = sign_for(text)
    costs = count_many(counter, [_line(item, sign) for item in items])
    if budget is None:
        limit = _strength(before, costs, worths, profile, success)
    elif _near(costs, worths) > limit:
        items = [
            clip(item, limit * _CLIPPED, sign) if counter.count(item.text) >= limit - 6 else item
            for item in shorten(items, sign)
        ]
        costs = count_many(counter, [_line(item, sign) for item in items])
    frame = Frame(cleaned.total, sign, _style(limit), exit_code, pointer)
    pool = Pool(items, costs, worths, near_first=budget is None)
    rendering, kept = _fit(pool, limit, counter, frame)
    result = rendering.text + ("\n" if text.endswith("\n") else "")
    after = counter.count(result)
    if excerpt is None and after >= before:
        return _untouched(text, profile, before, exit_code, pointer)
    cut = sum(1 for stays, item in zip(kept, items, strict=True) if not stays and not item.part)
    cut_tokens = sum(cost for cost, stays in zip(costs, kept, strict=True) if not stays)
    reports.append(
        StageReport("truncate", cut, cut_tokens, (f"{cut} lines of lesser worth",) if cut else ())
    )
    return Reduction(
        text=result,
        header=rendering.header,
        profile=profile.name,
        stages=tuple(reports),
        verdicts=tuple(
            dict.fromkeys(item.text.strip() for item in items if item.marks.level == VERDICT)
        ),
        success=success,
        lines_before=cleaned.total,
        lines_after=result.count("\n") + (not result.endswith("\n")),
        tokens_before=before if excerpt is None else excerpt.tokens,
        tokens_after=after,
        exit_code=exit_code,
        pointer=pointer,
        kept=tuple(
            dict.fromkeys(item.index for item, stays in zip(items, kept, strict=True) if stays)
        ),
    )


def _untouched(
    text: str, profile: Profile, tokens: int, exit_code: int | None, pointer: str | None
) -> Reduction:
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    return Reduction(
        text=text,
        header="",
        profile=profile.name,
        stages=(),
        verdicts=(),
        success=False,
        lines_before=lines,
        lines_after=lines,
        tokens_before=tokens,
        tokens_after=tokens,
        exit_code=exit_code,
        pointer=pointer,
        kept=tuple(range(lines)),
    )


def _assess(
    cleaned: Cleaned, profile: Profile, generic: Profile | None
) -> tuple[Profile, list[Marks]]:
    """The profile that applies, and the marks of all lines."""
    texts = [line.text for line in cleaned.lines]
    marks = Assessor(profile, generic).assess(texts)
    unknown = bool(profile.match.output) and not any(mark.signed for mark in marks)
    if unknown and generic is not None and generic != profile:
        return generic, Assessor(generic, None).assess(texts)
    return profile, marks


def _succeeded(profile: Profile, marks: Sequence[Marks], exit_code: int | None) -> bool:
    if exit_code is not None and exit_code not in profile.success.exit_codes:
        return False
    return any(mark.succeeded for mark in marks) and not any(mark.failing for mark in marks)


def _stages(
    cleaned: Cleaned,
    marks: Sequence[Marks],
    profile: Profile,
    generic: Profile | None,
    counter: TokenCounter,
) -> tuple[list[Item], list[StageReport]]:
    """The first three stages, with what each removed."""
    everything = [
        Item(line.index, line.part, line.text, mark)
        for line, mark in zip(cleaned.lines, marks, strict=True)
    ]
    reports = []
    rules = [profile.group]
    if generic is not None and profile.inherit and generic != profile:
        rules.append(generic.group)
    items, notes = _filter(everything, cleaned, profile)
    reports.append(_report("filter", everything, items, notes, counter))
    grouped, notes = group(items, rules)
    reports.append(_report("group", items, grouped, notes, counter))
    single, notes = deduplicate(grouped, profile.deduplicate)
    reports.append(_report("deduplicate", grouped, single, notes, counter))
    return single, reports


def _filter(
    items: Sequence[Item], cleaned: Cleaned, profile: Profile
) -> tuple[list[Item], tuple[str, ...]]:
    kept: list[Item] = []
    blanks = boilerplate = comments = 0
    for item in items:
        marks = item.marks
        if item.blank:
            if profile.filter.blank_runs and (not kept or kept[-1].blank):
                blanks += 1
                continue
        elif marks.level <= NOTICE and not marks.kept and not marks.succeeded:
            if marks.dropped:
                boilerplate += 1
                continue
            if marks.comment:
                comments += 1
                continue
        kept.append(item)
    counts = (
        (cleaned.escaped, "lines with terminal sequences"),
        (cleaned.frames, "frames of progress"),
        (blanks, "blank lines in a row"),
        (boilerplate, "lines of boilerplate"),
        (comments, "comment lines"),
    )
    return kept, tuple(f"{count} {what}" for count, what in counts if count)


def _report(
    name: str,
    before: Sequence[Item],
    after: Sequence[Item],
    notes: tuple[str, ...],
    counter: TokenCounter,
) -> StageReport:
    assert name in {"filter", "group", "deduplicate"}
    if not notes:
        return StageReport(name, 0, 0)  # type: ignore[arg-type]
    gone = counter.count("\n".join(i.text for i in before)) - counter.count(
        "\n".join(f"{i.text} {i.note}" if i.note else i.text for i in after)
    )
    return StageReport(name, len(before) - len(after), gone, notes)  # type: ignore[arg-type]


def _line(item: Item, sign: str) -> str:
    return f"{item.text} {sign}{item.note}\n" if item.note else f"{item.text}\n"


def _strength(
    before: int, costs: Sequence[int], worths: Sequence[Worth], profile: Profile, success: bool
) -> int:
    """The budget where none is given: the profile's share, or what is critical, if that is more."""
    share = profile.success.share if success else profile.truncate.share
    ceiling = max(int(before * CEILING_SHARE), CEILING_TOKENS)
    return max(int(before * share), min(_near(costs, worths), ceiling), profile.truncate.floor)


def _near(costs: Sequence[int], worths: Sequence[Worth]) -> int:
    """Tokens of all that is critical, with its context, header and marks."""
    lines = sum(cost for cost, worth in zip(costs, worths, strict=True) if worth.near)
    starts = pairwise([Worth(0, False, False), *worths])
    gaps = sum(worth.near and not above.near for above, worth in starts)
    return lines + _OVERHEAD + _MARK * gaps


def _style(limit: int) -> Style:
    if limit < _BARE_BELOW:
        return "bare"
    return "short" if limit < _SHORT_BELOW else "full"


def _fit(
    pool: Pool, limit: int, counter: TokenCounter, frame: Frame
) -> tuple[Rendering, list[bool]]:
    """The fullest rendering within the limit. Lines counted one by one may add up to a little
    less than the text: what is over is taken from the room, a few times."""
    gap_cost = 0 if frame.style == "bare" else counter.count(f"\n{frame.sign}123\n") - 1
    room = limit - counter.count(render([], [], frame).header) - 1
    for _ in range(_ROUNDS):
        kept = pool.fill(room, gap_cost)
        rendering = render(pool.items, kept, frame)
        over = counter.count(rendering.text) - limit
        if over <= 0 or not any(kept):
            return rendering, kept
        room -= over
    kept = [False] * len(pool.items)
    return render(pool.items, kept, frame), kept
