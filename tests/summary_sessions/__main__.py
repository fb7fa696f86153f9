"""Write the made sessions: ``python -m tests.summary_sessions``."""

from __future__ import annotations

from pathlib import Path

from tests.summary_sessions import kiln, shop

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "summaries"


def files() -> dict[str, str]:
    """Relative path → text of every made session."""
    return {
        "kiln/session.jsonl": "\n".join([*kiln.tell().lines, ""]),
        "shop/session.jsonl": "\n".join([*shop.tell().lines, ""]),
    }


def main() -> None:
    for name, text in files().items():
        path = FIXTURES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.splitlines())} records, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
