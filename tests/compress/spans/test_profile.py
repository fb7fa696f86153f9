"""A model's profile: a fact with its source, never changed, never above the provider's limits."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from compress.spans.profile import ProfileError, profile, registered
from compress.spans.values import SpanLimits
from storage import resources
from tests.compress.spans.made import FACTS, PROFILE


def test_a_profile_names_its_version_and_gives_its_limits() -> None:
    assert PROFILE.id == "example/embed-small@3"
    assert PROFILE.limits == SpanLimits(preferred=500, hard=1_000, overlap=20)


def test_a_profile_is_never_changed() -> None:
    with pytest.raises(ValidationError):
        PROFILE.hard_tokens = 2_000  # type: ignore[misc]
    with pytest.raises(ValidationError):
        PROFILE.provenance.source = "elsewhere"  # type: ignore[misc]


@pytest.mark.parametrize("field", [name for name in FACTS if name != "overlap_tokens"])
def test_a_profile_without_one_of_its_facts_is_refused_by_its_name(field: str) -> None:
    facts = {name: value for name, value in FACTS.items() if name != field}
    if field == "dimensions":
        assert profile(facts).dimensions is None, "an index of words has none"
        return
    with pytest.raises(ProfileError, match=f"{field}: it is missing"):
        profile(facts)


@pytest.mark.parametrize("field", ["source", "digest", "verified_on"])
def test_a_provenance_that_says_less_is_refused(field: str) -> None:
    provenance = {name: value for name, value in FACTS["provenance"].items() if name != field}
    with pytest.raises(ProfileError, match=rf"provenance\.{field}: it is missing"):
        profile(FACTS | {"provenance": provenance})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 0}, "version: input should be greater than or equal to 1"),
        ({"version": "3"}, "version: input should be a valid integer"),
        ({"version": True}, "version: input should be a valid integer"),
        ({"hard_tokens": 8_193}, "hard_tokens is 8,193, above provider_max_input_tokens of 8,192"),
        (
            {"request_tokens": 300_001},
            "request_tokens is 300,001, above provider_max_request_tokens of 300,000",
        ),
        ({"preferred_tokens": 1_001}, "preferred_tokens is 1,001, above hard_tokens of 1,000"),
        ({"request_tokens": 999}, "hard_tokens is 1,000, above request_tokens of 999"),
        ({"overlap_tokens": 500}, "overlap_tokens is 500, not below preferred_tokens of 500"),
        ({"tokenizer_digest": "A" * 64}, "tokenizer_digest: string should match"),
        ({"provider": " "}, "provider: string should match"),
        ({"colour": "green"}, "colour: it is unknown"),
        ({"provenance": {**FACTS["provenance"], "verified_on": "2026-13-01"}}, "verified_on"),
        ({"provenance": {**FACTS["provenance"], "verified_on": "last week"}}, "verified_on"),
        ({"provenance": None}, "provenance: input should be"),
    ],
)
def test_a_profile_that_cannot_be_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        profile(FACTS | change)


def test_the_providers_own_limits_may_be_used_up() -> None:
    facts = FACTS | {"hard_tokens": 8_192, "request_tokens": 300_000, "preferred_tokens": 8_192}
    assert profile(facts).limits.hard == 8_192


def test_what_is_known_anew_takes_a_new_version() -> None:
    newer = profile(FACTS | {"version": 4, "dimensions": 768})
    assert list(registered([PROFILE, newer, PROFILE])) == [PROFILE.id, newer.id]
    changed = profile(FACTS | {"dimensions": 768})
    with pytest.raises(ProfileError, match="another profile example/embed-small@3"):
        registered([PROFILE, changed])


def test_the_digest_is_that_of_every_fact() -> None:
    assert profile(dict(reversed(FACTS.items()))).digest == PROFILE.digest
    for field, value in (("revision", "x"), ("dimensions", 768), ("metadata_template", 2)):
        assert profile(FACTS | {field: value}).digest != PROFILE.digest


def test_the_shipped_vocabularies_can_be_named_with_their_digests() -> None:
    for name, digest in resources.DIGESTS.items():
        made = profile(FACTS | {"tokenizer": name, "tokenizer_digest": digest})
        assert made.tokenizer_digest == digest
