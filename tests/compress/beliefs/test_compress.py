"""How much of a belief is rendered: by class, never more than its content."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.beliefs.compress import STRATEGIES, compress_for_retrieval
from compress.beliefs.matching import query_headline
from compress.beliefs.values import Belief, RetentionClass, Strategy
from compress.tokens import CharsOverFour, TokenCounter
from storage import resources

LONG = "The parser fails on tabs. " + "It was written long ago by people who left. " * 10


@cache
def counter() -> TokenCounter:
    return resources.counter("o200k_base")


def belief(content: str, retention: RetentionClass = "snapshot", name: str = "b1") -> Belief:
    return Belief(name, content, retention, "tool_result", "tool")


@pytest.mark.parametrize(
    ("retention", "strategy", "rendered"),
    [
        ("fact", "verbatim", LONG),
        ("snapshot", "headline", "The parser fails on tabs.…"),
        ("transient", "stub", "[stub: belief=b1 class=transient]"),
        ("unknown", "verbatim", LONG),
    ],
)
def test_each_class_is_rendered_in_its_way(
    retention: RetentionClass, strategy: Strategy, rendered: str
) -> None:
    found = compress_for_retrieval(belief(LONG, retention), locked=False, counter=counter())
    assert (found.strategy, found.rendered, found.fell_back) == (strategy, rendered, None)
    assert found.rendered_tokens == counter().count(rendered)


@pytest.mark.parametrize("retention", STRATEGIES)
def test_what_is_locked_is_whole_whatever_is_asked_for(retention: RetentionClass) -> None:
    found = compress_for_retrieval(
        belief(LONG, retention), locked=True, counter=counter(), strategy="stub"
    )
    assert (found.strategy, found.rendered) == ("verbatim", LONG)


def test_a_person_may_ask_for_another_strategy() -> None:
    found = compress_for_retrieval(
        belief(LONG, "fact"), locked=False, counter=counter(), strategy="headline"
    )
    assert found.rendered == "The parser fails on tabs.…"
    found = compress_for_retrieval(
        belief(LONG, "fact"), locked=False, counter=counter(), strategy="stub"
    )
    assert found.rendered == "[stub: belief=b1 class=fact]", "what it is, not what it is shown as"


def test_what_would_cost_more_than_the_content_falls_back_to_it_and_says_so() -> None:
    found = compress_for_retrieval(belief("ok", "transient"), locked=False, counter=counter())
    assert (found.strategy, found.rendered, found.fell_back) == ("verbatim", "ok", "stub")
    # One token for the content, and a second for the ellipsis, by a counter of characters.
    found = compress_for_retrieval(belief("Ab. C"), locked=False, counter=CharsOverFour())
    assert (found.rendered, found.rendered_tokens) == ("Ab.…", 1)


@pytest.mark.parametrize("retention", STRATEGIES)
def test_an_empty_content_renders_empty_and_costs_nothing(retention: RetentionClass) -> None:
    found = compress_for_retrieval(belief("", retention), locked=False, counter=counter())
    assert (found.strategy, found.rendered, found.rendered_tokens) == ("verbatim", "", 0)


_TEXTS = st.text(max_size=400) | st.text(
    alphabet=st.sampled_from("ab. \n`~漢é👍\u200d\u0301\ud800\0"), max_size=400
)


@given(
    content=_TEXTS,
    retention=st.sampled_from(list(STRATEGIES)),
    locked=st.booleans(),
    strategy=st.sampled_from([None, "verbatim", "headline", "stub", "query_headline"]),
    query=st.text(max_size=20),
)
def test_it_is_total_and_never_costs_more_than_the_content(
    content: str, retention: RetentionClass, locked: bool, strategy: Strategy | None, query: str
) -> None:
    one = belief(content, retention)
    found = compress_for_retrieval(
        one, locked=locked, counter=counter(), strategy=strategy, query=query
    )
    assert found.belief is one
    assert found.rendered_tokens == counter().count(found.rendered)
    assert found.rendered_tokens <= counter().count(content)
    if found.fell_back is not None:
        assert found.rendered == content
        assert found.strategy == "verbatim"
    if locked:
        assert found.rendered == content


# -- the sentence that a query asks for ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("All is well. The parser fails on tabs. So it is.", "failing parsers?", 1),
        ("Всё хорошо. Разбор падает на табуляции. Дальше.", "почему разбор падает", 1),
        ("一切正常。解析器在制表符上失败。下一步。", "解析器失败", 1),
        ("すべて正常。パーサーはタブで失敗する。次へ。", "パーサーの失敗", 1),
        ("كل شيء بخير. المحلل يفشل عند الجدولة. التالي.", "لماذا يفشل المحلل", 1),
        ("first line\nretry_limit = 5\nlast line", "retry_limit", 1),
    ],
)
def test_the_sentence_or_line_that_holds_the_query_stands_for_the_text(
    text: str, query: str, found: int
) -> None:
    parts = text.split("\n") if "\n" in text else [s + "." for s in text.split(".") if s]
    if "。" in text:
        parts = [s + "。" for s in text.split("。") if s]
    assert query_headline(text, query) == f"…{parts[found].strip()}…"


def test_where_nothing_matches_it_is_the_headline() -> None:
    assert query_headline(LONG, "zebra") == "The parser fails on tabs.…"
    assert query_headline(LONG, "?!") == "The parser fails on tabs.…"


def test_of_a_long_sentence_the_part_around_the_match_stands() -> None:
    text = "alpha " * 100 + "needle " + "omega " * 100
    found = query_headline(text, "needle")
    assert "needle" in found
    assert found[0] == found[-1] == "…"
    assert len(found) <= 240
