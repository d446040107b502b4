"""Answers that are sent piece by piece."""

from collections.abc import Iterator

from django.http import StreamingHttpResponse


def stream(
    pieces: Iterator[bytes], *, content_type: str, headers: dict[str, str]
) -> StreamingHttpResponse:
    """The pieces as an answer, each made when the one before it has been sent.

    One after another on any thread, which holds no database connection between two of them.
    """
    return StreamingHttpResponse(pieces, content_type=content_type, headers=headers)
