"""Files in a bucket of S3, or of anything that speaks its protocol."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from knowledge.storage.files import SignedPut, check_key, file_gone, out_of_order

logger = logging.getLogger(__name__)

_SECONDS = 30


class S3Store:
    """One object for each key."""

    def __init__(
        self, bucket: str, *, endpoint: str, region: str, access_key: str, secret_key: str
    ) -> None:
        self.bucket = bucket
        self._client = _client(endpoint, region, access_key, secret_key)

    def sign_put(self, key: str, *, media_type: str, size: int, expires_at: datetime) -> SignedPut:
        # The condition makes the address good for one file: the next one is refused with 412.
        asked = {"ContentType": media_type, "ContentLength": size, "IfNoneMatch": "*"}
        seconds = max(1, int((expires_at - datetime.now(UTC)).total_seconds()))
        url = self._client.generate_presigned_url(
            "put_object", Params=self._at(key) | asked, ExpiresIn=seconds
        )
        return SignedPut(url=url, headers={"Content-Type": media_type, "If-None-Match": "*"})

    def put(self, key: str, source: bytes | Path) -> None:
        at = self._at(key)
        with _failures_as_outages():
            if isinstance(source, bytes):
                self._client.put_object(**at, Body=source)
            else:
                self._client.upload_file(str(source), at["Bucket"], at["Key"])

    def size_of(self, key: str) -> int | None:
        with _failures_as_outages():
            try:
                return int(self._client.head_object(**self._at(key))["ContentLength"])
            except self._client.exceptions.ClientError as error:
                if _is_missing(error):
                    return None
                raise

    def head(self, key: str, count: int) -> bytes:
        with self._body(key, Range=f"bytes=0-{count - 1}") as body:
            return cast(bytes, body.read(count))

    @contextmanager
    def open_read(self, key: str, *, start: int = 0) -> Iterator[BinaryIO]:
        asked = {"Range": f"bytes={start}-"} if start else {}
        with self._body(key, **asked) as body:
            yield cast(BinaryIO, body)

    @contextmanager
    def local_copy(self, key: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="quarry-") as folder:
            path = Path(folder) / "file"
            with self._missing_as_gone(), path.open("wb") as file:
                at = self._at(key)
                self._client.download_fileobj(at["Bucket"], at["Key"], file)
            yield path

    def delete(self, key: str) -> None:
        with _failures_as_outages():
            self._client.delete_object(**self._at(key))

    @contextmanager
    def _body(self, key: str, **options: str) -> Iterator[Any]:
        with self._missing_as_gone():
            body = self._client.get_object(**self._at(key), **options)["Body"]
        with body, _failures_as_outages():
            yield body

    @contextmanager
    def _missing_as_gone(self) -> Iterator[None]:
        """A file that should be there and is not has its own reason."""
        with _failures_as_outages():
            try:
                yield
            except self._client.exceptions.ClientError as error:
                if _is_missing(error):
                    raise file_gone() from None
                raise

    def _at(self, key: str) -> dict[str, Any]:
        return {"Bucket": self.bucket, "Key": check_key(key)}


def _client(endpoint: str, region: str, access_key: str, secret_key: str) -> Any:
    # Imported here: it takes most of a second, and only those with a bucket need it.
    import boto3  # type: ignore[import-untyped]
    from botocore.config import Config  # type: ignore[import-untyped]

    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        config=Config(
            signature_version="s3v4",
            # Servers other than Amazon's know neither bucket names in the host nor checksums
            # that nobody asked for.
            s3={"addressing_style": "path" if endpoint else "auto"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            connect_timeout=_SECONDS,
            read_timeout=_SECONDS,
            retries={"mode": "standard", "max_attempts": 3},
        ),
    )


def _is_missing(error: Any) -> bool:
    return error.response.get("Error", {}).get("Code") in ("404", "NoSuchKey", "NotFound")


@contextmanager
def _failures_as_outages() -> Iterator[None]:
    """Whatever the bucket's server or the way to it has against us, in our words."""
    from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

    try:
        yield
    except (BotoCoreError, ClientError, Boto3Error) as error:
        logger.error("The bucket failed: %s", error)
        raise out_of_order() from error
