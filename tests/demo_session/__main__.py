"""Write the bundled session: ``python -m tests.demo_session``."""

from __future__ import annotations

from pathlib import Path

from storage.resources import counter
from tests.demo_session.story import AGENT, SESSION, tell

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "demo"
FOLDER = "projects/-home-sam-tidepool"


def files() -> dict[str, str]:
    """Relative path → text of every file of the bundled session."""
    story = tell(counter().count)
    main = "\n".join([*story.main.lines(), ""])
    side = "\n".join([*story.side.lines(), ""])
    return {
        f"{FOLDER}/{SESSION}.jsonl": main,
        f"{FOLDER}/{SESSION}/subagents/agent-{AGENT}.jsonl": side,
    }


def main() -> None:
    for name, text in files().items():
        path = ASSETS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.name}: {len(text.splitlines())} records, {len(text.encode()):,} bytes")
    inputs = tell(counter().count).main.inputs
    print("input tokens of each request:", *inputs)


if __name__ == "__main__":
    main()
