"""The keys that do something here, on one line; a click is as good as the key.

Those that matter most come first, for they stand where there is room for few. Where there is more
than the shown ones need, the screen's other keys fill it.

Textual's own footer is a widget for every key, made anew whenever the focus moves; this one is a
line of text.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen

from inspector.widgets.entry import Entry
from inspector.widgets.tones import Cells, Drawn, width_of

PALETTE = "command_palette"
HELP = "help"
SHORT = 16
"""Cells of a description that can fill the room which is left."""

_Key = tuple[Cells, str, DOMNode]


class KeyBar(Drawn):
    """Shows the bindings that want to be shown, as many as fit."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def draw(self, width: int, height: int) -> list[Cells]:
        return [[cell for group, _, _ in self._shown(width) for cell in group]]

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        edge = 0
        for group, action, node in self._shown(self.size.width):
            edge += width_of(group)
            if offset is not None and offset.x < edge:
                await self.app.run_action(action, node)
                return

    def _shown(self, width: int) -> Iterator[tuple[Cells, str, DOMNode]]:
        """As many keys as fit; the ones for help and for the palette stay, in this order."""
        first, others, last = self._keys()
        room = width - sum(width_of(group) for group, action, _ in last if action == HELP)
        shown = []
        for key in first:
            room -= width_of(key[0])
            if room >= 0:
                shown.append(key)
        for key in last:
            if key[1] != HELP:
                room -= width_of(key[0])
        for key in others:
            if width_of(key[0]) <= room:
                room -= width_of(key[0])
                shown.append(key)
        yield from shown
        yield from (key for key in last if key[1] == HELP or room >= 0)

    def _keys(self) -> tuple[list[_Key], list[_Key], list[_Key]]:
        """What is shown of each key, what it does, and for whom: those that want to be shown, the
        screen's other ones, and those that stand at the end."""
        first: list[_Key] = []
        others: list[_Key] = []
        last: list[_Key] = []
        focused = self.screen.focused
        if isinstance(focused, Entry):
            first.append(([(" ⏎", "accent"), (f" {focused.done} ", "muted")], "submit", focused))
        seen = {action for _, action, _ in first}
        for node, binding, _, _ in self.screen.active_bindings.values():
            action, key = binding.action, self.app.get_key_display(binding)
            # A box that has the keyboard takes every sign. Textual leaves out letters by itself,
            # but not what it calls by another name than Unicode does, as the slash.
            if action in seen or (isinstance(focused, Entry) and len(key) == 1):
                continue
            seen.add(action)
            words = "commands" if action == PALETTE else binding.description
            cells: Cells = [(f" {key}", "accent"), (f" {words} ", "muted")]
            if action in (HELP, PALETTE):
                last.append((cells, action, node))
            elif binding.show:
                first.append((cells, action, node))
            elif self._fills(node, binding.tooltip, words):
                others.append((cells, action, node))
        last.sort(key=lambda key: key[1] == PALETTE)
        return first, others, last

    def _fills(self, node: DOMNode, tooltip: str, words: str) -> bool:
        """A key of the screen itself, of few words, that Textual did not put there."""
        return bool(tooltip) and node is self.screen and len(words) <= SHORT

    def _bindings_changed(self, screen: Screen[object]) -> None:
        self.refresh_drawing()
