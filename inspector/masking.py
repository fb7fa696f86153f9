"""Secrets in what leaves the machine: found by rule, replaced by a mark that says what stood there.

What a secret of a known service looks like is taken from *detect-secrets*, a library that is kept
for just that; only its patterns are used, so that nothing is looked up or verified anywhere. Beside
them stand rules for what it leaves out: keys of model providers, names and values without quotes,
headers, whole private keys, and long random words. A rule may mask what is no secret; a secret
that looks like an ordinary word is not found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from compress.decisions.values import DecisionPoint

_KNOWN = (
    *("artifactory.ArtifactoryDetector", "aws.AWSKeyDetector", "basic_auth.BasicAuthDetector"),
    *("azure_storage_key.AzureStorageKeyDetector", "cloudant.CloudantDetector"),
    *("discord.DiscordBotTokenDetector", "github_token.GitHubTokenDetector"),
    *("gitlab_token.GitLabTokenDetector", "ibm_cloud_iam.IbmCloudIamDetector"),
    *("ibm_cos_hmac.IbmCosHmacDetector", "jwt.JwtTokenDetector", "mailchimp.MailchimpDetector"),
    *("npm.NpmDetector", "openai.OpenAIDetector", "pypi_token.PypiTokenDetector"),
    *("sendgrid.SendGridDetector", "slack.SlackDetector", "softlayer.SoftlayerDetector"),
    *("square_oauth.SquareOAuthDetector", "stripe.StripeDetector"),
    *("telegram_token.TelegramBotTokenDetector", "twilio.TwilioKeyDetector"),
)
"""Detectors that know the shape of one service's secrets. Left out: addresses, which are none, and
strings in quotes by their entropy alone, which takes every digest for one."""

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----"
    r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----|.*\Z)",
    re.DOTALL,
)
_PREFIXED = re.compile(
    r"\b(?:sk-(?:ant|proj|svcacct|admin|or|live|test)-[\w-]{6,}|sk-[A-Za-z0-9]{16,}"
    r"|(?:[sr]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|hf_|gsk_|xai-|npm_|pypi-"
    r"|dop_v1_|AIza|ya29\.|AKIA|ASIA|AGE-SECRET-KEY-1|whsec_|shpat_)[\w.-]{8,})"
)
"""Also of secrets that were cut off, where a record holds only the beginning of a line."""
_HEADER = re.compile(
    r"\b(?:bearer|basic|token)\s{1,3}(?=[\w.~+/=-]{0,400}\d)(?P<value>[\w.~+/=-]{12,})"
    r"|\b(?:set-)?cookie\s{0,3}:\s{0,3}(?P<cookie>[^\r\n\"']{4,})",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?<![A-Za-z0-9])[\w.-]{0,60}?(?:token|secret|passwd|password|passphrase|pwd|api[_-]?key"
    r"|access[_-]?key|auth[_-]?key|private[_-]?key|credentials?)"
    r"(?P<sign>[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:)\s{0,3})"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\r\n]{4,})|(?P<bare>[^\s\"'`,;&|()\[\]{}<>$]{4,}))",
    re.IGNORECASE,
)
"""A name that tells of a secret, and its value."""
_WORD = re.compile(r"(?<![\w+=-])[A-Za-z0-9+_=-]{32,}(?![\w+=-])")
_ENTROPY = 4.5
"""Bits a character from which on a word of letters and digits is taken for random: the limit that
detect-secrets has for base64."""
_MARK = "[masked"


class Masker:
    """Masks texts, and counts what it masked."""

    def __init__(self) -> None:
        self.masked = 0

    def text(self, text: str) -> str:
        """The text with a mark in place of every secret. Masking twice changes nothing."""
        while True:
            masked = self._once(text)
            if masked == text:
                return text
            text = masked  # a mark may lay bare where a neighbour begins

    def _once(self, text: str) -> str:
        pieces: list[str] = []
        end = 0
        for start, stop, kind in _merged(sorted(_secrets(text), key=lambda s: (s[0], -s[1]))):
            if _MARK in text[max(start - 1, 0) : stop]:
                continue
            pieces += [text[end:start], f"{_MARK}: {kind}]"]
            end = stop
            self.masked += 1
        return "".join([*pieces, text[end:]]) if pieces else text

    def point(self, point: DecisionPoint) -> DecisionPoint:
        """The record with every text of the log masked; ids, figures and seqs as they are."""
        text = self.text
        stage = point.stage.model_copy(update={"title": text(point.stage.title)})
        return point.model_copy(
            update={
                "project": None if point.project is None else text(point.project),
                "stage": stage,
                "summary": text(point.summary),
                "rationale": None if point.rationale is None else text(point.rationale),
                "steering": tuple(
                    item.model_copy(update={"text": text(item.text)}) for item in point.steering
                ),
                "evidence": tuple(
                    item.model_copy(update={"text": text(item.text)}) for item in point.evidence
                ),
                "files": tuple(
                    item.model_copy(update={"path": text(item.path)}) for item in point.files
                ),
            }
        )


_Span = tuple[int, int, str]
"""Where a secret begins and ends, and what it is."""


def _merged(spans: list[_Span]) -> Iterator[_Span]:
    """Spans that overlap as one, by the name of the first."""
    held: _Span | None = None
    for start, stop, kind in spans:
        if held is not None and start < held[1]:
            held = (held[0], max(held[1], stop), held[2])
            continue
        if held is not None:
            yield held
        held = (start, stop, kind)
    if held is not None:
        yield held


def _secrets(text: str) -> Iterator[_Span]:
    for found in _PRIVATE_KEY.finditer(text):
        yield (*found.span(), "private key")
    yield from _of_services(text)
    for found in _HEADER.finditer(text):
        yield (*found.span("value" if found["value"] else "cookie"), "credential")
    for found in _NAMED.finditer(text):
        if _tells(found):
            yield (*found.span("quoted" if found["quoted"] else "bare"), "named secret")
    for found in _WORD.finditer(text):
        if _is_random(found[0]):
            yield (*found.span(), "random word")


def _of_services(text: str) -> Iterator[_Span]:
    for kind, pattern in _known():
        for found in pattern.finditer(text):
            groups = [n for n in range(1, pattern.groups + 1) if found[n]] or [0]
            for group in groups:
                yield (*found.span(group), kind)
    for found in _PREFIXED.finditer(text):
        yield (*found.span(), "key")


@cache
def _known() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(what it is, pattern) of every detector; loaded at first use."""
    found = []
    for name in _KNOWN:
        module, _, detector = name.partition(".")
        made = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)
        kind = str(made.secret_type).lower()
        found += [(kind, pattern) for pattern in made.denylist]
    return tuple(found)


def _tells(found: re.Match[str]) -> bool:
    """Whether the value beside a telling name may be a secret: no plain number, and where neither
    quotes nor a bare ``=`` set it off, no plain word."""
    if found["quoted"]:
        return not found["quoted"].isdecimal()
    value = found["bare"]
    if value.isdecimal() and len(value) < 12:
        return False
    plain = value.isalpha() or value.replace("_", "").replace("-", "").replace(".", "").isalpha()
    return found["sign"] == "=" or not plain


def _is_random(word: str) -> bool:
    """Shannon's entropy of a word that mixes capitals, small letters and digits."""
    kinds = (str.isupper, str.islower, str.isdigit)
    if not all(any(kind(letter) for letter in word) for kind in kinds):
        return False
    shares = [count / len(word) for count in Counter(word).values()]
    return -sum(share * math.log2(share) for share in shares) >= _ENTROPY
