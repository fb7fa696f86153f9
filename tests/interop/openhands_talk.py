"""Run by a Python that has openhands-sdk (1.58): a conversation with a provider on the loopback.

Arguments: a folder to keep it in, the provider's URL, and what its user says, one word each. The
agent condenses its history early, and has its own built-in tools only.
"""

from __future__ import annotations

import logging
import sys
import uuid
from pathlib import Path

from openhands.sdk import LLM, Agent, Conversation  # type: ignore[import-not-found]
from openhands.sdk.context.condenser import (  # type: ignore[import-not-found]
    LLMSummarizingCondenser,
)
from pydantic import SecretStr

NUMBER = uuid.UUID(int=0xC0FFEE)


def main(folder: Path, url: str, *words: str) -> None:
    """Says these words, one after another; what is there already is loaded first."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True, parents=True)
    model = LLM(
        model="openai/gpt-4o",
        api_key=SecretStr("sk-none-of-your-business"),
        base_url=url,
        usage_id="agent",
        num_retries=0,
    )
    own = model.model_copy(update={"usage_id": "condenser"})
    condenser = LLMSummarizingCondenser(llm=own, max_size=14, keep_first=2)
    conversation = Conversation(
        agent=Agent(llm=model, tools=[], condenser=condenser),
        workspace=str(workspace),
        persistence_dir=str(folder / "conversations"),
        conversation_id=NUMBER,
        visualizer=None,
    )
    for word in words:
        conversation.send_message(word)
        conversation.run()
    conversation.close()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(Path(sys.argv[1]), *sys.argv[2:])
