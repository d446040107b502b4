"""Where originals are kept: a folder of this machine, or a bucket by setting."""

from functools import cache

from django.conf import settings

from knowledge.storage.files import FileStore, SignedPut
from knowledge.storage.local import LocalStore
from knowledge.storage.s3 import S3Store

__all__ = ["FileStore", "LocalStore", "S3Store", "SignedPut", "live_store"]


def live_store() -> FileStore:
    """The store that the settings name: the bucket if there is one, else the data folder."""
    if not settings.QUARRY_S3_BUCKET:
        return LocalStore(settings.QUARRY_HOME / "files")
    return _bucket(
        settings.QUARRY_S3_BUCKET,
        settings.QUARRY_S3_ENDPOINT,
        settings.QUARRY_S3_REGION,
        settings.QUARRY_S3_ACCESS_KEY,
        settings.QUARRY_S3_SECRET_KEY,
    )


@cache
def _bucket(bucket: str, endpoint: str, region: str, access_key: str, secret_key: str) -> S3Store:
    # A client takes a good part of a second to make, and serves every thread.
    return S3Store(
        bucket, endpoint=endpoint, region=region, access_key=access_key, secret_key=secret_key
    )
