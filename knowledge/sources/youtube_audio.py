"""The sound of a video, by yt-dlp, which has no way out but the guarded client."""

import io
import logging
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from yt_dlp import YoutubeDL
from yt_dlp.extractor.youtube import YoutubeIE
from yt_dlp.globals import all_plugins_loaded, plugin_dirs
from yt_dlp.networking import Request, RequestHandler, Response
from yt_dlp.networking.exceptions import HTTPError, TransportError

from knowledge.errors import IngestFailed
from knowledge.sources import http

logger = logging.getLogger(__name__)

EXTRACTORS: tuple[type, ...] = (YoutubeIE,)
# Whole files only: pieces and manifests would need ffmpeg to be put together.
FORMAT = (
    "bestaudio[ext=m4a][protocol~='^https?$']/bestaudio[ext=webm][protocol~='^https?$']/"
    "bestaudio[protocol~='^https?$']/worst[acodec!=none][protocol~='^https?$']/"
    "best[protocol~='^https?$']"
)


class SaveFailed(Exception):
    """What yt-dlp said; its caller knows what that means."""


class Budget:
    """How many bytes and seconds are left for all requests of one download together."""

    def __init__(self, *, max_bytes: int, seconds: float) -> None:
        self.bytes_left = max_bytes
        self._end = time.monotonic() + seconds
        self.refusal: IngestFailed | None = None

    @property
    def seconds_left(self) -> float:
        return max(self._end - time.monotonic(), 0.001)


def save_audio(url: str, to: Path, *, max_bytes: int, seconds: float) -> None:
    """The best sound that comes as one file; what goes wrong is told in yt-dlp's own words."""
    budget = Budget(max_bytes=max_bytes, seconds=seconds)
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        with downloader(Path(folder), budget) as yt_dlp:
            try:
                yt_dlp.download([url])
            except Exception as failure:
                # Beside its own errors, those of code that met a page it did not expect.
                logger.info("yt-dlp failed on %s: %s", url, failure)
                raise budget.refusal or SaveFailed(failure) from None
        saved = list(Path(folder).iterdir())
        if not saved:
            raise budget.refusal or SaveFailed("No sound was found")
        shutil.move(saved[0], to)


def downloader(folder: Path, budget: Budget) -> Any:
    """A yt-dlp that saves into the folder, with no plugin, program, cache or handler but ours."""
    plugin_dirs.value = []
    all_plugins_loaded.value = True
    made = YoutubeDL(_options(folder), auto_init=False)
    for extractor in EXTRACTORS:
        made.add_info_extractor(extractor())
    director = made.build_request_director([])
    headers = made.params["http_headers"]
    director.add_handler(
        GuardedRH(budget, logger=logger, headers=headers, cookiejar=made.cookiejar)
    )
    made.__dict__["_request_director"] = director
    return made


def _options(folder: Path) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "outtmpl": {"default": f"{str(folder).replace('%', '%%')}/sound.%(ext)s"},
        "cachedir": False,
        "extractor_retries": 0,
        "fixup": "never",
        "js_runtimes": {},
        "logger": _Quiet(),
        "nopart": True,
        "noplaylist": True,
        "noprogress": True,
        "playlist_items": "1",
        "proxy": "",
        "quiet": True,
        "retries": 2,
        "updatetime": False,
    }


class _Quiet:
    """yt-dlp talks a lot; what matters is raised."""

    def debug(self, message: str) -> None:
        logger.debug("yt-dlp: %s", message)

    warning = error = info = debug


class GuardedRH(RequestHandler):  # type: ignore[misc]
    """The only handler: every request, of pages, players and media, goes by the guarded client."""

    _SUPPORTED_URL_SCHEMES = ("http", "https")
    _SUPPORTED_PROXY_SCHEMES = None
    _SUPPORTED_FEATURES = None

    def __init__(self, budget: Budget, **options: Any) -> None:
        super().__init__(**options)
        self._budget = budget

    def _check_extensions(self, extensions: dict[str, Any]) -> None:
        super()._check_extensions(extensions)
        for known in ("cookiejar", "timeout", "legacy_ssl", "keep_header_casing"):
            extensions.pop(known, None)

    def _send(self, request: Request) -> Response:
        jar = self._get_cookiejar(request)
        headers = {name: str(value) for name, value in self._get_headers(request).items()}
        if cookies := jar.get_cookie_header(request.url):
            headers["Cookie"] = cookies
        opened = ExitStack()
        try:
            answer, pieces = opened.enter_context(self._open_stream(request, headers))
        except IngestFailed as refusal:
            self._budget.refusal = refusal
            raise TransportError(refusal.message, cause=refusal) from None
        self._budget.refusal = None  # yt-dlp can do without what was refused before
        _keep_cookies(jar, answer)
        response = Response(
            _Body(pieces, opened, self._budget), answer.url, _plain(answer), status=answer.status
        )
        if not 200 <= answer.status < 300:
            raise HTTPError(response)
        return response

    def _open_stream(self, request: Request, headers: dict[str, str]) -> Any:
        return http.stream(
            request.url,
            method=request.method,
            headers=headers,
            body=_data(request.data),
            max_bytes=max(self._budget.bytes_left, 1),
            seconds=self._budget.seconds_left,
            any_status=True,
            proxy=settings.QUARRY_YOUTUBE_PROXY,
        )


def _data(data: Any) -> bytes | None:
    if data is None or isinstance(data, bytes):
        return data
    return data.read() if hasattr(data, "read") else b"".join(data)


def _plain(answer: http.Answer) -> dict[str, str]:
    """The headers, without those of a compression that is undone already."""
    if "content-encoding" not in answer.headers:
        return dict(answer.headers)
    gone = ("content-encoding", "content-length")
    return {name: value for name, value in answer.headers.items() if name not in gone}


def _keep_cookies(jar: Any, answer: http.Answer) -> None:
    message = Message()
    for name, value in answer.pairs:
        message[name] = value
    jar.extract_cookies(
        SimpleNamespace(info=lambda: message),
        urllib.request.Request(answer.url),  # noqa: S310
    )


class _Body(io.RawIOBase):
    """The pieces of an answer as a file; its bytes are counted, and what fails is told."""

    def __init__(self, pieces: Iterator[bytes], opened: ExitStack, budget: Budget) -> None:
        super().__init__()
        self._pieces, self._opened, self._budget = pieces, opened, budget
        self._held = b""

    def readable(self) -> bool:
        return True

    def read(self, amount: int | None = -1) -> bytes:
        wanted = -1 if amount is None else amount
        while wanted < 0 or len(self._held) < wanted:
            if not (piece := self._next()):
                break
            self._held += piece
        size = len(self._held) if wanted < 0 else wanted
        given, self._held = self._held[:size], self._held[size:]
        return given

    def _next(self) -> bytes:
        try:
            piece = next(self._pieces, b"")
        except IngestFailed as refusal:
            self._budget.refusal = refusal
            raise TransportError(refusal.message, cause=refusal) from None
        self._budget.bytes_left -= len(piece)
        return piece

    def close(self) -> None:
        self._opened.close()
        super().close()
