"""One call of Anthropic's Messages API: its errors as ours, and what it cost."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import httpx2

from knowledge.errors import ProviderUnavailable

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import ContentBlockParam, Message, OutputConfigParam

DEFAULT_MODEL = "claude-sonnet-5-5"
BASE_URL = "https://api.anthropic.com"
TRY_SEC = 30.0

# US dollars for a million tokens, read and written, as published in October 2026. The first
# name that a model's begins with counts, so longer names stand before shorter ones.
PRICES = {
    "claude-opus-5-5": (4.0, 20.0),
    "claude-opus": (5.0, 25.0),
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-sonnet": (2.0, 10.0),
}

_WITHOUT_EFFORT = ("claude-sonnet-4-5", "claude-haiku-4-5")

T = TypeVar("T")


class ClaudeApi:
    """Asks one model; whatever goes wrong there is a ProviderUnavailable here."""

    work: ClassVar[str]
    """What it makes, in the plural."""
    model_setting: ClassVar[str]
    timeout: float

    def __init__(
        self, api_key: str, *, base_url: str = "", model: str = "", timeout: float | None = None
    ) -> None:
        if not api_key:
            raise _bad_key(f"{self.work} are made by Claude, which needs a key")
        self.name = model or DEFAULT_MODEL
        self.timeout = timeout or self.timeout
        self._api_key = api_key
        self._base_url = base_url or BASE_URL

    def ask(
        self,
        read: "Callable[[Message], T]",
        *,
        system: str,
        content: "str | Iterable[ContentBlockParam]",
        max_tokens: int,
        output_format: Any = None,
        seconds: float | None = None,
    ) -> T:
        """What `read` makes of the model's message; it may raise the errors of broken data."""
        from anthropic import omit  # here, because it takes a second

        with self._errors_as_ours(), self._client() as client:
            message = client.messages.create(
                model=self.name,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": content}],
                output_config=self._output_config(output_format) or omit,
                timeout=seconds or self.timeout,
            )
            return read(message)

    def stream(
        self,
        read: "Callable[[Message, bool], T]",
        *,
        system: str,
        content: "str | Iterable[ContentBlockParam]",
        max_tokens: int,
    ) -> Iterator[T]:
        """What `read` makes of the message after each block of it, and last of the whole."""
        from anthropic import omit

        until = monotonic() + self.timeout
        with (
            self._errors_as_ours(),
            self._client() as client,
            client.messages.stream(
                model=self.name,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": content}],
                output_config=self._output_config(None) or omit,
            ) as events,
        ):
            message = None
            for event in events:
                if monotonic() > until:
                    raise _temporary_failure("Claude took too long; try again later.", None)
                message = events.current_message_snapshot
                if event.type == "content_block_stop":
                    yield read(message, False)
            if message is None or message.stop_reason is None:
                raise ValueError("a message without an end")
            yield read(message, True)

    def try_out(self) -> None:
        """Have it say a word; one that thinks may come to none within so few tokens."""
        self.ask(
            lambda message: message.stop_reason,
            system="Answer with one word.",
            content="Say yes.",
            max_tokens=16,
            seconds=TRY_SEC,
        )

    def _client(self) -> "Anthropic":
        from anthropic import Anthropic

        return Anthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            timeout=self.timeout,
            max_retries=0,  # the caller tries again, and knows when to give up
        )

    @contextmanager
    def _errors_as_ours(self) -> Iterator[None]:
        from anthropic import APIConnectionError, APIError, APIStatusError

        try:
            yield
        except APIStatusError as error:
            raise self._error_of_status(error.status_code) from error
        except (APIConnectionError, httpx2.HTTPError) as error:
            raise _temporary_failure("Claude did not answer; try again later.", None) from error
        except (APIError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise _unusable() from error

    def _output_config(self, output_format: Any) -> "OutputConfigParam":
        config: OutputConfigParam = {"format": output_format} if output_format else {}
        if not self.name.startswith(_WITHOUT_EFFORT):
            config["effort"] = "low"  # the work takes little thought, and thought is paid for
        return config

    def _error_of_status(self, status: int) -> ProviderUnavailable:
        """Our own error for a failed call."""
        if status in (401, 403):
            return _bad_key("Claude refused the key")
        if status == 429:
            return _temporary_failure("Claude is limiting our rate; try again later.", status)
        # An error within a stream that had begun has the status of its beginning.
        if status in (408, 409) or status >= 500 or status < 400:
            return _temporary_failure("Claude did not answer; try again later.", status)
        setting = self.model_setting
        if status == 404:
            message = f"There is no model {self.name}; set {setting} to one there is."
            return ProviderUnavailable(message, may_pass=False, status=status, setting=setting)
        message = f"Claude refused the request; check {setting} and the account's credit."
        return ProviderUnavailable(message, may_pass=False, status=status)


def cost_of(message: "Message") -> float:
    """In US dollars, by the list price of the model that answered."""
    usage = message.usage
    return price_of(message.model, usage.input_tokens, usage.output_tokens)


def price_of(model: str, tokens_read: float, tokens_written: float) -> float:
    prices = (price for name, price in PRICES.items() if model.startswith(name))
    read, written = next(prices, PRICES["claude-sonnet"])
    return (tokens_read * read + tokens_written * written) / 1_000_000


def _temporary_failure(message: str, status: int | None) -> ProviderUnavailable:
    return ProviderUnavailable(message, may_pass=True, status=status)


def _bad_key(reason: str) -> ProviderUnavailable:
    message = f"{reason}: set ANTHROPIC_API_KEY to one that is valid."
    return ProviderUnavailable(message, may_pass=False, setting="ANTHROPIC_API_KEY")


def _unusable() -> ProviderUnavailable:
    message = "Claude sent an answer that cannot be used; check ANTHROPIC_BASE_URL, or ask again."
    return ProviderUnavailable(message, may_pass=False)
