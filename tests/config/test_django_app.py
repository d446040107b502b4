"""Django's answers on our own threads: whatever becomes of them, they are closed."""

from collections.abc import Iterator
from io import BytesIO

import pytest
from django.http import StreamingHttpResponse
from django.test import AsyncRequestFactory

from config.django_app import DjangoHandler


def break_off() -> Iterator[bytes]:
    yield b"begun"
    raise OSError("The file is gone.")


def test_an_answer_that_breaks_off_while_it_is_made_is_closed(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = StreamingHttpResponse(break_off())
    handler = DjangoHandler()
    monkeypatch.setattr(handler, "get_response", lambda request: response)
    with pytest.raises(OSError, match="gone"):
        handler.answer(dict(AsyncRequestFactory().get("/").scope), BytesIO())
    assert response.closed
