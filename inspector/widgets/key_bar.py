"""The keys that do something here, on one line; a click is as good as the key.

Textual's own footer is a widget for every key, made anew whenever the focus moves; this one is a
line of text.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen

from inspector.widgets.tones import Cells, Drawn, width_of

PALETTE = "command_palette"
HELP = "help"


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
        """As many keys as fit; the one for help stays."""
        keys = list(self._keys())
        room = width - sum(width_of(group) for group, action, _ in keys if action == HELP)
        for group, action, node in keys:
            if action == HELP:
                yield group, action, node
                continue
            room -= width_of(group)
            if room >= 0:
                yield group, action, node

    def _keys(self) -> Iterator[tuple[Cells, str, DOMNode]]:
        """What is shown of each key, what it does, and for whom; the palette comes last."""
        bindings = [
            active
            for active in self.screen.active_bindings.values()
            if active.binding.show or active.binding.action == PALETTE
        ]
        bindings.sort(key=lambda active: active.binding.action == PALETTE)
        seen: set[str] = set()
        for node, binding, _, _ in bindings:
            if binding.action not in seen:
                seen.add(binding.action)
                key = self.app.get_key_display(binding)
                words = "commands" if binding.action == PALETTE else binding.description
                yield [(f" {key}", "accent"), (f" {words} ", "muted")], binding.action, node

    def _bindings_changed(self, screen: Screen[object]) -> None:
        self.refresh_drawing()
