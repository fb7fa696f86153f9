"""The two themes. Text keeps a contrast of at least 4.5 : 1 on every ground that it can stand on,
what is drawn to be read (bars, curves, the border with the focus) one of 3 : 1 on the screen's.
Only a ``rule`` and an ``edge`` may be fainter: nothing is said by them.

The grounds of the light one are almost grey: a terminal of 256 colours turns anything warmer
into yellow.
"""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="ullage-dark",
    dark=True,
    primary="#7fb4c9",
    secondary="#8aa5c9",
    accent="#7fb4c9",
    foreground="#d5dae1",
    background="#11151a",
    surface="#161b22",
    panel="#1c222b",
    success="#74b894",
    warning="#d9ab62",
    error="#dd7f76",
    variables={
        "calm-fill": "#5f9d7e",
        "warm-fill": "#c99a52",
        "hot-fill": "#cf6f66",
        "strong": "#f2f4f7",
        "muted": "#9ca7b6",
        "faint": "#8692a1",
        "rule": "#4a5461",
        "cursor-ground": "#202a36",
        "blurred-ground": "#1b222c",
        "selected-ground": "#182831",
        "edge": "#2a323d",
        "edge-focus": "#4f7f92",
        "part-system": "#7d8998",
        "part-instructions": "#5fb0b0",
        "part-user": "#7ea6e0",
        "part-assistant": "#b79be0",
        "part-thinking": "#958abf",
        "part-calls": "#d6b27c",
        "part-results": "#b98a5e",
        "part-checkpoints": "#d98fb0",
        "block-cursor-text-style": "none",
    },
)

LIGHT = Theme(
    name="ullage-light",
    dark=False,
    primary="#1b647b",
    secondary="#3a5f92",
    accent="#1b647b",
    foreground="#272c33",
    background="#faf8f4",
    surface="#f0efed",
    panel="#e8e6e1",
    success="#226844",
    warning="#7d520b",
    error="#a8352c",
    variables={
        "calm-fill": "#4c8c70",
        "warm-fill": "#a87a28",
        "hot-fill": "#c16b61",
        "strong": "#0d1014",
        "muted": "#525b66",
        "faint": "#5e666f",
        "rule": "#b3b6b8",
        "cursor-ground": "#d9e6ea",
        "blurred-ground": "#e9ebe8",
        "selected-ground": "#dfeee6",
        "edge": "#d8d3c8",
        "edge-focus": "#4b8394",
        "part-system": "#6b7480",
        "part-instructions": "#16686a",
        "part-user": "#2a5aa3",
        "part-assistant": "#7146ad",
        "part-thinking": "#6959a5",
        "part-calls": "#7d5510",
        "part-results": "#8a5626",
        "part-checkpoints": "#9a3a6e",
        "block-cursor-text-style": "none",
    },
)
