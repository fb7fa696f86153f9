"""What a text goes through on its way out of the machine: secrets masked, UTF-8 for sure."""

from __future__ import annotations

from inspector.masking import Masker

_SHORT = 256
"""Characters up to which a text without a secret is remembered: names, folders, headlines."""
_REMEMBERED = 50_000
_PROBE = "Zq8vK3xw"
"""A value that is masked beside a telling name, and nowhere else."""


class Cleaner:
    """Cleans texts; without a masker it leaves secrets where they are."""

    def __init__(self, masker: Masker | None) -> None:
        self.masker = masker
        self._harmless: set[str] = set()
        self._telling: dict[str, bool] = {}

    def __call__(self, text: str) -> str:
        """The text, readable and masked."""
        if self.masker is None:
            return readable(text)
        if text in self._harmless:
            return text
        cleaned = readable(self.masker.text(text))
        if cleaned == text and len(text) <= _SHORT and len(self._harmless) < _REMEMBERED:
            self._harmless.add(text)
        return cleaned

    def named(self, name: str, text: str) -> str:
        """The value of a name, which may tell of a secret: a password alone looks like any word."""
        if self.masker is None or not self._tells(name):
            return self(text)
        head = f'{readable(name)}="'
        shown = self.masker.text(f'{head}{readable(text)}"')
        # A quote or a newline within it ends what a rule takes for the value.
        is_whole = shown.startswith(head) and shown.endswith('"')
        return shown[len(head) : -1] if is_whole else self(text)

    def _tells(self, name: str) -> bool:
        known = self._telling.get(name)
        if known is None:
            probed = f'{name}="{_PROBE}"'
            known = Masker().text(probed) != probed
            if len(self._telling) < _REMEMBERED:
                self._telling[name] = known
        return known


def readable(text: str) -> str:
    """The text as UTF-8 can hold it: half a surrogate pair becomes a replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
