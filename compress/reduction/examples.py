"""The inline tests of a profile: what its author says of inputs, held against the pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from compress.reduction.choice import choose
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Example, Profile
from compress.reduction.values import Budget, BudgetError, Reduction
from compress.tokens import TokenCounter


def faults(
    profile: Profile, example: Example, counter: TokenCounter, generic: Profile
) -> Iterator[str]:
    """What does not hold of an example, one sentence each; none where all of it does."""
    try:
        budget = None if example.budget is None else Budget.parse(example.budget)
    except BudgetError as error:
        yield str(error)
        return
    if example.command is not None and choose([profile], command=example.command) is None:
        yield f"The profile is not chosen for the command {example.command!r}."
    result = reduce(
        example.input, profile, counter, budget, exit_code=example.exit_code, generic=generic
    )
    if result.profile != profile.name:
        yield "No line of the input fits match.output, so that the generic profile took over."
    for text in example.keeps:
        if text not in result.text:
            yield f"{text!r} is not kept."
    for text in example.drops:
        if text in result.text:
            yield f"{text!r} is not dropped."
    if example.output is not None and _body(result) != example.output:
        yield f"The result is not the output that was expected; it is {_body(result)!r}."


def _body(result: Reduction) -> str:
    return result.text if result.unchanged else result.text.partition("\n")[2]
