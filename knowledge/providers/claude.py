"""Summaries by Claude: what a text comes to, and quotes that really stand in it."""

from typing import TYPE_CHECKING

from knowledge.errors import ProviderUnavailable
from knowledge.providers.claude_api import ClaudeApi, cost_of, price_of
from knowledge.providers.protocols import Summary
from knowledge.providers.summing_up import (
    SCHEMA,
    SYSTEM,
    PartSummary,
    parts_of,
    read_summary,
    summarize_in_parts,
)
from knowledge.text.token_estimate import token_count

if TYPE_CHECKING:
    from anthropic.types import Message

PART = 400_000
"""Characters that one call reads: about 100,000 tokens of English."""

MAX_TOKENS = 16_000
"""Tokens of an answer and its thinking; for many more, the SDK requires streaming."""

TIMEOUT = 300.0

_TOKENS_ASKED, _TOKENS_WRITTEN = 900, 1_500
"""What a call takes beside the text, as an estimate counts it."""


class ClaudeSummarizer(ClaudeApi):
    """Asks Anthropic's API; whatever goes wrong there is a ProviderUnavailable here."""

    work = "Summaries"
    model_setting = "QUARRY_SUMMARY_MODEL"
    timeout = TIMEOUT

    def summarize(self, title: str, text: str) -> Summary:
        """Sum a text up in one call; a very long one in parts, and then those together."""
        return summarize_in_parts(self._ask, title, text, longest=PART)

    def estimate_usd(self, text: str) -> float:
        """By the text's length, with room for what is asked and written beside it."""
        parts = sum(1 for _ in parts_of(text, PART))
        tokens = token_count(text) + parts * _TOKENS_ASKED
        return price_of(self.name, tokens, parts * _TOKENS_WRITTEN)

    def _ask(self, content: str) -> PartSummary:
        # A forced tool call would give the same shape, but since 5.5 the vendor refuses those.
        return self.ask(
            _read,
            system=SYSTEM,
            content=content,
            max_tokens=MAX_TOKENS,
            output_format={"type": "json_schema", "schema": SCHEMA},
        )


def _read(message: "Message") -> PartSummary:
    """What the call told; anything unexpected is one of the errors of broken data."""
    if message.stop_reason == "refusal":
        raise ProviderUnavailable("Claude declined to sum this text up.", may_pass=False)
    told = "".join(block.text for block in message.content if block.type == "text")
    return read_summary(told, model=str(message.model or ""), cost_usd=cost_of(message))
