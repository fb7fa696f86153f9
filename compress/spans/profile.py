"""What the model that spans are made for takes, and how that is known.

A profile is a fact with its source, not a setting: it is never changed, a new finding is a new
version. What a provider allows and what is asked of it are two things: the limits here are at or
below the provider's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from compress.errors import CompressError
from compress.spans.values import SpanLimits

Name = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 in hexadecimal."""
Day = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
"""A day as ``YYYY-MM-DD``."""
Positive = Annotated[int, Field(ge=1)]


class ProfileError(CompressError):
    """A profile that is incomplete, contradicts itself, or would replace another."""

    code = "span_profile"


class Fact(BaseModel):
    """Never changed; no field that is not named here; no value that would have to be converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Provenance(Fact):
    """Where the facts of a profile were read."""

    source: Name
    """A URL, or the name of a document."""
    digest: Digest
    """Of the source as it was read."""
    verified_on: Day


class SpanProfile(Fact):
    """One version of what is known of one model."""

    version: Positive
    """Of these facts, for this provider and model."""
    provider: Name
    model: Name
    revision: Name
    """Of the model, as it was observed."""
    tokenizer: Name
    tokenizer_digest: Digest
    provider_max_input_tokens: Positive
    provider_max_request_tokens: Positive
    """Of all inputs of one request."""
    preferred_tokens: Positive
    hard_tokens: Positive
    """Of one span, metadata included."""
    request_tokens: Positive
    """Of all spans of one request."""
    overlap_tokens: Annotated[int, Field(ge=0)] = 0
    dimensions: Positive | None = None
    """Of a vector; ``None`` for an index of words."""
    metadata_template: Positive
    """Version of the metadata that stand before a span's text."""
    provenance: Provenance

    @model_validator(mode="after")
    def _is_consistent(self) -> SpanProfile:
        for lower, upper in (
            ("hard_tokens", "provider_max_input_tokens"),
            ("request_tokens", "provider_max_request_tokens"),
            ("preferred_tokens", "hard_tokens"),
            ("hard_tokens", "request_tokens"),
        ):
            if getattr(self, lower) > getattr(self, upper):
                raise ValueError(
                    f"{lower} is {getattr(self, lower):,}, above {upper} of "
                    f"{getattr(self, upper):,}"
                )
        if self.overlap_tokens >= self.preferred_tokens:
            raise ValueError(
                f"overlap_tokens is {self.overlap_tokens:,}, not below preferred_tokens of "
                f"{self.preferred_tokens:,}"
            )
        return self

    @property
    def id(self) -> str:
        """Names this version: ``provider/model@version``."""
        return f"{self.provider}/{self.model}@{self.version}"

    @property
    def digest(self) -> str:
        """SHA-256 of all of its fields, in hexadecimal."""
        return canonical_digest(self.model_dump())

    @property
    def limits(self) -> SpanLimits:
        """What spans for this model are cut to."""
        return SpanLimits(self.preferred_tokens, self.hard_tokens, self.overlap_tokens)


def profile(facts: Mapping[str, Any]) -> SpanProfile:
    """The profile that these facts are. Raises :class:`ProfileError`: a fact is missing (its
    provenance above all), is none, is unknown, or a limit is above the provider's."""
    try:
        return SpanProfile.model_validate(dict(facts))
    except ValidationError as error:
        raise ProfileError(f"No profile of a model: {first_problem(error)}.") from error


def registered(profiles: Iterable[SpanProfile]) -> Mapping[str, SpanProfile]:
    """Profiles by their id. Raises :class:`ProfileError` where two of one id are not the same: a
    version never changes."""
    known: dict[str, SpanProfile] = {}
    for new in profiles:
        if known.setdefault(new.id, new) != new:
            raise ProfileError(
                f"There is another profile {new.id}; what is known anew takes the next version."
            )
    return MappingProxyType(known)


def canonical_digest(value: Any) -> str:
    """SHA-256 of a JSON value: keys sorted, no blanks, ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def first_problem(error: ValidationError) -> str:
    """Where the first problem is and what it is, without the value that has it."""
    problem = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(map(str, problem["loc"]))
    what = problem["msg"].removeprefix("Value error, ")
    what = {"missing": "it is missing", "extra_forbidden": "it is unknown"}.get(
        problem["type"], what[:1].lower() + what[1:]
    )
    return f"{where}: {what}" if where else what
