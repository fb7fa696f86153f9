"""Tool output, reduced: filter → group → deduplicate → truncate, each a pure function over lines.

Nothing is said that the input does not say: lines are copied, counts and verdicts never made.
"""
