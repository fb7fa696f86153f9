"""The two themes. Text keeps a contrast of at least 4.5 : 1 on its ground.

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
        "muted": "#8d98a7",
        "faint": "#5a6573",
        "cursor-ground": "#253241",
        "blurred-ground": "#1d2530",
        "selected-ground": "#1c2f38",
        "edge": "#2a323d",
        "edge-focus": "#4f7f92",
        "part-system": "#6b7686",
        "part-instructions": "#5fb0b0",
        "part-user": "#7ea6e0",
        "part-assistant": "#b79be0",
        "part-thinking": "#8579b5",
        "part-calls": "#d6b27c",
        "part-results": "#b98a5e",
        "part-checkpoints": "#d98fb0",
        "block-cursor-text-style": "none",
    },
)

LIGHT = Theme(
    name="ullage-light",
    dark=False,
    primary="#1f6d85",
    secondary="#3a5f92",
    accent="#1f6d85",
    foreground="#272c33",
    background="#faf8f4",
    surface="#f0efed",
    panel="#e8e6e1",
    success="#2c7a52",
    warning="#8f5f0f",
    error="#b23c33",
    variables={
        "calm-fill": "#86bd9f",
        "warm-fill": "#d9ae62",
        "hot-fill": "#d98c82",
        "strong": "#0d1014",
        "muted": "#5f6873",
        "faint": "#979ca1",
        "cursor-ground": "#d9e6ea",
        "blurred-ground": "#e9ebe8",
        "selected-ground": "#dfeee6",
        "edge": "#d8d3c8",
        "edge-focus": "#6fa3b3",
        "part-system": "#7d8691",
        "part-instructions": "#1c7f7f",
        "part-user": "#2f63b0",
        "part-assistant": "#7a4fb8",
        "part-thinking": "#9184c4",
        "part-calls": "#93651a",
        "part-results": "#a86f3c",
        "part-checkpoints": "#a8447a",
        "block-cursor-text-style": "none",
    },
)
