"""One call of a chat model by OpenAI's protocol, and summaries made by such a model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.errors import ProviderUnavailable
from knowledge.providers import summing_up
from knowledge.providers.known_models import Prices, prices_of
from knowledge.providers.openai_api import OpenAIServer
from knowledge.providers.protocols import Summary
from knowledge.text.token_estimate import token_count

TRY_SEC = 30.0

SUMMARY_SEC = 600.0
"""A model on a processor reads a few hundred tokens a second."""

SUMMARY_TOKENS, PROMPT_TOKENS = 2_000, 700
"""What a summary may take, and what stands around the text."""

THINKING_TOKENS = 6_000
"""What OpenAI's models may think beside; it counts as written. Other contexts lack the room."""

READS_OF_CONTEXT = 0.75
"""How much of the context is filled by our own estimate, which other tokenizers exceed."""

LETTERS_A_TOKEN = 6
"""No tokenizer packs prose denser, so fewer tokens mean that the text was cut off."""

_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_SHAPE = {"name": "summary", "schema": summing_up.SCHEMA, "strict": True}
_AS_JSON = (
    "Answer with one JSON object alone: "
    '{"tldr": "the gist, in one to three sentences", "key_points": ["three to ten sentences"], '
    '"quotes": ["up to five passages, copied letter by letter"]}'
)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model has written so far, and what that cost."""

    text: str
    model: str
    cost_usd: float
    is_whole: bool = True


class ChatModel:
    """Asks one model; whatever goes wrong there is a ProviderUnavailable here."""

    def __init__(self, server: OpenAIServer, prices: Prices) -> None:
        self.server = server
        self.price = prices_of(server.model, prices)

    def cost(self, tokens_read: float, tokens_written: float) -> float:
        """In US dollars; nothing for a model whose price nobody knows, such as one's own."""
        read, written = self.price or (0.0, 0.0)
        return (tokens_read * read + tokens_written * written) / 1_000_000

    def most_written(self, max_tokens: int) -> int:
        """How many tokens it may write for an answer of so many."""
        return max_tokens + (THINKING_TOKENS if self.server.is_openai else 0)

    def complete(
        self, system: str, content: str, *, max_tokens: int, seconds: float, **options: Any
    ) -> Completion:
        """The whole answer to one message."""
        body = self._body(system, content, max_tokens) | options
        answer = self.server.ask("/chat/completions", seconds=seconds, json=body)
        try:
            choice = answer["choices"][0]
            text, reason = choice["message"].get("content") or "", choice.get("finish_reason")
            is_declined = bool(choice["message"].get("refusal"))
        except (AttributeError, LookupError, TypeError) as error:
            raise self.server.unusable("no message") from error
        if is_declined:
            raise self.server.refuse(f"{self.server.model} declined to do this.")
        self._check_reason(reason)
        usage = _Usage.of(answer)
        self._check_that_all_was_read(system + content, usage)
        return self._completion(str(text), answer, usage)

    def stream(
        self, system: str, content: str, *, max_tokens: int, seconds: float
    ) -> Iterator[Completion]:
        """The answer as far as it has come, with every piece of it, and last the whole."""
        body = self._body(system, content, max_tokens)
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        text, reason, usage, last = "", None, _Usage(0, 0), {}
        for event in self.server.stream("/chat/completions", seconds=seconds, json=body):
            last = event
            usage = _Usage.of(event) if event.get("usage") else usage
            for choice in event.get("choices") or ():
                text += (choice.get("delta") or {}).get("content") or ""
                reason = choice.get("finish_reason") or reason
            yield self._completion(text, event, usage, is_whole=False)
        if reason is None:
            raise self.server.unusable("half an answer")
        self._check_reason(reason)
        self._check_that_all_was_read(system + content, usage)
        yield self._completion(text, last, usage)

    def try_out(self) -> None:
        """Have it say a word; one that thinks may come to none within so few tokens."""
        body = self._body("Answer with one word.", "Say yes.", 16)
        answer = self.server.ask("/chat/completions", seconds=TRY_SEC, json=body)
        if not answer.get("choices"):
            raise self.server.unusable("no message")

    def _body(self, system: str, content: str, max_tokens: int) -> dict[str, Any]:
        # OpenAI's newer models refuse the old name, and other servers do not know the new one.
        limit = "max_completion_tokens" if self.server.is_openai else "max_tokens"
        return {
            "model": self.server.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": content},
            ],
            limit: self.most_written(max_tokens),
        }

    def _completion(
        self, text: str, answer: dict[str, Any], usage: "_Usage", *, is_whole: bool = True
    ) -> Completion:
        return Completion(
            text=_THOUGHTS.sub("", text),
            model=str(answer.get("model") or self.server.model),
            cost_usd=self.cost(usage.read, usage.written),
            is_whole=is_whole,
        )

    def _check_reason(self, reason: str | None) -> None:
        if reason == "content_filter":
            raise self.server.refuse(f"{self.server.model} declined to do this.")
        if reason == "length":
            raise self.server.refuse(
                f"The answer of {self.server.model} was cut off: it thinks or writes longer than "
                "it was allowed to, by Quarry or by its server; choose a model that thinks less."
            )

    def _check_that_all_was_read(self, prompt: str, usage: "_Usage") -> None:
        """Some servers cut a prompt to their context without a word."""
        letters = len("".join(prompt.split()))
        if 0 < usage.read < letters / LETTERS_A_TOKEN:
            raise self.server.refuse(
                f"The model server {self.server.place} read only the {usage.read:,.0f} tokens that "
                "fit its context: raise that (OLLAMA_CONTEXT_LENGTH for Ollama), or lower "
                "QUARRY_OPENAI_CONTEXT."
            )


@dataclass(frozen=True, slots=True)
class _Usage:
    read: float
    written: float

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "_Usage":
        """The tokens that the server counted; none where it counts none."""
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        read, written = (counts.get(f"{name}_tokens") or 0 for name in ("prompt", "completion"))
        return cls(float(read), float(written))


class OpenAISummarizer:
    """Sums up with a chat model of a server."""

    def __init__(self, server: OpenAIServer, *, context: int, prices: Prices) -> None:
        """Ask for no more at once than `context` tokens hold, question and answer."""
        self.name = server.model
        self._chat = ChatModel(server, prices)
        self._room = READS_OF_CONTEXT * (context - SUMMARY_TOKENS - PROMPT_TOKENS)
        self._takes_schemas = True

    def summarize(self, title: str, text: str) -> Summary:
        """Sum a text up in one call; one that the context does not hold in parts."""
        return summing_up.summarize_in_parts(self._ask, title, text, longest=self._longest(text))

    def estimate_usd(self, text: str) -> float:
        """By the text's length, with room for what is asked and written beside it."""
        parts = sum(1 for _ in summing_up.parts_of(text, self._longest(text)))
        return self._chat.cost(
            token_count(text) + parts * PROMPT_TOKENS, parts * SUMMARY_TOKENS / 2
        )

    def try_out(self) -> None:
        self._chat.try_out()

    def _longest(self, text: str) -> int:
        """Characters of this text that fit the context."""
        return max(1_000, int(self._room * len(text) / max(1.0, token_count(text))))

    def _ask(self, content: str) -> summing_up.PartSummary:
        completion = self._complete(content)
        try:
            return summing_up.read_summary(
                completion.text, model=completion.model, cost_usd=completion.cost_usd
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._chat.server.unusable("no summary") from error

    def _complete(self, content: str) -> Completion:
        """In the shape of a schema, where the server knows that."""
        asked: dict[str, Any] = {"max_tokens": SUMMARY_TOKENS, "seconds": SUMMARY_SEC}
        system = f"{summing_up.SYSTEM} {_AS_JSON}"
        if self._takes_schemas:
            shape = {"type": "json_schema", "json_schema": _SHAPE}
            try:
                return self._chat.complete(system, content, **asked, response_format=shape)
            except ProviderUnavailable as error:
                if error.details.get("status") not in (400, 422):
                    raise
                self._takes_schemas = False
        return self._chat.complete(system, content, **asked)
