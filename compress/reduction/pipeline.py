"""Filter → group → deduplicate → truncate: a tool's output, reduced."""

from __future__ import annotations

from collections.abc import Sequence

from compress.reduction.clean import Cleaned, clean
from compress.reduction.counting import LineCounts
from compress.reduction.critical import VERDICT, Assessor, Marks
from compress.reduction.items import Item
from compress.reduction.profile import Profile
from compress.reduction.rank import rank
from compress.reduction.render import Frame, Style, is_reduced, sign_for, style_for
from compress.reduction.sieve import Excerpt
from compress.reduction.stages import prepare
from compress.reduction.tight import select
from compress.reduction.truncate import Pool, strength, truncate
from compress.reduction.values import Budget, Reduction, StageReport
from compress.tokens import TokenCounter


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
    text is a reduction already, it is the text itself. A budget holds for the whole result; only
    one that is smaller than the shortest header is exceeded, by that header.
    """
    before = counter.count(text)
    limit = before if budget is None else budget.of(before)
    small = before <= (profile.truncate.floor if budget is None else limit)
    if excerpt is None and (small or is_reduced(text, before)):
        return _untouched(text, profile, before, exit_code, pointer)
    cleaned = clean(text) if excerpt is None else excerpt.placed(clean(text))
    profiles, marks = _assess(cleaned, profile, generic)
    profile = profiles[0]
    success = _succeeded(profile, marks, exit_code)
    style: Style = "full" if budget is None else style_for(limit)
    sign = sign_for(text, style)
    counts = LineCounts(counter, sign)
    items, reports = prepare(cleaned, marks, profiles, counts, before)
    end = "\n" if text.endswith("\n") else ""
    frame = Frame(cleaned.total, sign, style, exit_code, pointer)
    worths = rank(items, profile.truncate, success)
    pool = Pool(items, counts.costs(items), worths, budget is None)
    shown: Sequence[Item]
    if style == "bare":
        room, tail = limit - len(end), profile.truncate.tail
        rendering, shown, kept = select(pool, tail, room, counter, frame)
    else:
        if budget is None:
            limit = strength(before, pool, profile, success)
        else:
            pool = pool.tightened(limit, counts, sign)
        rendering, kept = truncate(pool, limit - len(end), counter, frame)
        shown = pool.items
    result = rendering.text + end
    after = counter.count(result)
    if excerpt is None and after >= before:
        return _untouched(text, profile, before, exit_code, pointer)
    reports.append(_truncated(shown, counts.costs(shown), kept))
    return Reduction(
        text=result,
        header=rendering.header,
        profile=profile.name,
        stages=tuple(reports),
        verdicts=_verdicts(items),
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
) -> tuple[list[Profile], list[Marks]]:
    """The profile that applies, with the one that it inherits from, and the marks of all lines."""
    texts = [line.text for line in cleaned.lines]
    if generic is None or generic == profile:
        return [profile], Assessor([profile]).assess(texts)
    profiles = [profile, generic] if profile.inherit else [profile]
    marks = Assessor(profiles).assess(texts)
    if profile.match.output and not any(mark.signed for mark in marks):
        return [generic], Assessor([generic]).assess(texts)
    return profiles, marks


def _succeeded(profile: Profile, marks: Sequence[Marks], exit_code: int | None) -> bool:
    if exit_code is not None and exit_code not in profile.success.exit_codes:
        return False
    return any(mark.succeeded for mark in marks) and not any(mark.failing for mark in marks)


def _verdicts(items: Sequence[Item]) -> tuple[str, ...]:
    found = (item.text.strip() for item in items if item.marks.level == VERDICT)
    return tuple(dict.fromkeys(found))


def _truncated(items: Sequence[Item], costs: Sequence[int], kept: Sequence[bool]) -> StageReport:
    gone = [(item, cost) for item, cost, stays in zip(items, costs, kept, strict=True) if not stays]
    notes = (f"{len(gone)} lines of lesser worth",) if gone else ()
    return StageReport("truncate", len(gone), sum(cost for _, cost in gone), notes)
