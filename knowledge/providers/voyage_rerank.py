"""Reranking by Voyage."""

from collections.abc import Sequence
from typing import Any

from knowledge.providers.voyage_api import bad_key, error_of_status, unusable


class VoyageReranker:
    """Asks Voyage's API once; whatever goes wrong there is a ProviderUnavailable here."""

    usual_sec = 0.3

    def __init__(
        self, api_key: str, *, base_url: str | None = None, model: str = "rerank-2.5"
    ) -> None:
        # Half a second of import, which the first search would wait for.
        from voyageai.api_resources.reranking import Reranking

        self.name = model
        self._create: Any = Reranking.create
        self._api_key = api_key
        self._base_url = base_url.rstrip("/") if base_url else None

    def relevance(self, question: str, texts: Sequence[str], *, seconds: float) -> Sequence[float]:
        """Between 0 and 1 for each text."""
        if not self._api_key:
            raise bad_key("Voyage needs a key")
        from voyageai.error import VoyageError

        try:
            answer = self._create(
                query=question,
                documents=list(texts),
                model=self.name,
                api_key=self._api_key,
                base_url=self._base_url,
                request_timeout=seconds,
            )
            found = {row["index"]: float(row["relevance_score"]) for row in answer["data"]}
            return [found[at] for at in range(len(texts))]
        except VoyageError as error:
            raise error_of_status(error.http_status, error.headers) from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise unusable() from error
