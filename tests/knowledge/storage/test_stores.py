"""Both file stores: a folder, and a bucket on a local server that speaks S3."""

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from moto.server import ThreadedMotoServer
from pytest_django import Settings

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.storage import FileStore, LocalStore, S3Store, live_store

KEY = "7/0b9ed8de-5f4c-4f5a-9d55-6f5b0a3f4c11"
CREDENTIALS = {"region": "us-east-1", "access_key": "testing", "secret_key": "testing"}


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_url: str) -> Iterator[S3Store]:
    store = S3Store("originals", endpoint=s3_url, **CREDENTIALS)
    store._client.create_bucket(Bucket="originals")
    yield store
    store.delete(KEY)
    store._client.close()


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "files")


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest) -> FileStore:
    chosen: FileStore = request.getfixturevalue(request.param)
    return chosen


# What every store does -------------------------------------------------------------------


def test_what_was_put_is_read_back_to_the_byte(store: FileStore, tmp_path: Path) -> None:
    data = bytes(range(256)) * 20_000
    (tmp_path / "source").write_bytes(data)
    for source in (data, tmp_path / "source"):
        store.put(KEY, source)
        assert store.size_of(KEY) == len(data)
        assert store.head(KEY, 10) == data[:10]
        with store.open_read(KEY) as file:
            assert file.read() == data
        with store.local_copy(KEY) as path:
            assert path.read_bytes() == data


def test_a_file_that_is_put_again_takes_the_place_of_the_first(store: FileStore) -> None:
    store.put(KEY, b"the first, which is longer")
    store.put(KEY, b"the second")
    assert store.head(KEY, 100) == b"the second"


def test_the_head_of_a_short_file_is_the_whole(store: FileStore) -> None:
    store.put(KEY, b"ab")
    assert store.head(KEY, 8192) == b"ab"


def test_a_file_that_is_not_there_has_no_size_and_is_told_to_be_gone(store: FileStore) -> None:
    assert store.size_of(KEY) is None
    asks: list[Callable[[], Any]] = [
        lambda: store.head(KEY, 10),
        lambda: store.open_read(KEY).__enter__(),
        lambda: store.local_copy(KEY).__enter__(),
    ]
    for ask in asks:
        with pytest.raises(IngestFailed) as refused:
            ask()
        assert refused.value.details == {"reason": "gone"}


def test_to_delete_twice_is_the_same_as_once(store: FileStore) -> None:
    store.put(KEY, b"anything")
    store.delete(KEY)
    store.delete(KEY)
    assert store.size_of(KEY) is None


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "../secret_key", "7/../../secret_key", "7//x", "7/.x", "7/x/", "7\\x"],
)
def test_a_key_that_leads_out_of_the_store_is_refused(store: FileStore, key: str) -> None:
    for ask in (store.size_of, store.delete, lambda key: store.put(key, b"x")):
        with pytest.raises(ValueError, match="no key"):
            ask(key)


# A folder --------------------------------------------------------------------------------


def test_files_are_for_this_user_alone(folder: LocalStore) -> None:
    folder.put(KEY, b"private")
    assert (folder.folder / KEY).stat().st_mode & 0o777 == 0o600
    assert folder.folder.stat().st_mode & 0o777 == 0o700


def test_a_draft_is_not_seen_before_it_is_kept_and_leaves_nothing_when_it_is_dropped(
    folder: LocalStore,
) -> None:
    draft = folder.draft(KEY)
    draft.write(b"half of it")
    assert folder.size_of(KEY) is None
    draft.drop()
    assert files_in(folder) == []


def test_what_a_killed_writer_left_goes_with_the_next_file_and_with_the_deletion(
    folder: LocalStore,
) -> None:
    for clean_up in (lambda: folder.put(KEY, b"whole"), lambda: folder.delete(KEY)):
        killed = folder.draft(KEY)
        killed.write(b"half of it")
        killed.file.close()
        assert any(path.endswith(".part") for path in files_in(folder))
        clean_up()
        assert not any(path.endswith(".part") for path in files_in(folder))


def test_a_disk_that_fails_is_an_outage_that_may_pass(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("in the way")
    with pytest.raises(ProviderUnavailable) as refused:
        LocalStore(tmp_path / "files").put(KEY, b"anything")
    assert refused.value.details == {"may_pass": True}


def test_a_full_disk_keeps_nothing(folder: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = folder.draft(KEY)
    draft.file.close()
    with Path("/dev/full").open("wb", buffering=0) as full:
        draft.file = io.BufferedWriter(full)
        draft.write(b"anything")
        with pytest.raises(ProviderUnavailable):
            draft.keep()
        with pytest.raises(ProviderUnavailable):
            draft.drop()
    assert files_in(folder) == []


def test_a_signature_is_good_for_one_key_and_time(folder: LocalStore) -> None:
    asked: dict[str, Any] = {"media_type": "text/plain", "size": 5, "expires_at": in_a_while()}
    put = folder.sign_put(KEY, **asked)
    [signature] = parse_qs(urlsplit(put.url).query)["signature"]
    assert (put.method, put.headers) == ("PUT", {"Content-Type": "text/plain"})
    good: dict[str, Any] = {"expires_at": asked["expires_at"], "signature": signature}
    assert folder.is_signed(KEY, **good)
    others: list[dict[str, Any]] = [
        {"expires_at": asked["expires_at"] + timedelta(seconds=1)},
        {"signature": ""},
        {"signature": signature[:-1]},
        {"signature": f"{signature}:"},
        {"signature": "é" * 40},
    ]
    for other in others:
        assert not folder.is_signed(KEY, **{**good, **other})
    assert not folder.is_signed(f"{KEY[:-1]}2", **good)


# A bucket --------------------------------------------------------------------------------


def test_a_presigned_put_is_taken_once(bucket: S3Store) -> None:
    put = bucket.sign_put(KEY, media_type="text/plain", size=5, expires_at=in_a_while())
    first = httpx2.request(put.method, put.url, headers=put.headers, content=b"first")
    again = httpx2.request(put.method, put.url, headers=put.headers, content=b"other")
    assert (first.status_code, again.status_code) == (200, 412)
    assert bucket.head(KEY, 100) == b"first"


def test_a_presigned_put_signs_type_length_condition_and_time(bucket: S3Store) -> None:
    asked: dict[str, Any] = {"media_type": "text/plain", "size": 5, "expires_at": in_a_while()}
    query = parse_qs(urlsplit(bucket.sign_put(KEY, **asked).url).query)
    signed = query["X-Amz-SignedHeaders"][0].split(";")
    assert signed == ["content-length", "content-type", "host", "if-none-match"]
    assert 890 <= int(query["X-Amz-Expires"][0]) <= 900


def test_a_bucket_that_does_not_answer_is_an_outage_that_may_pass() -> None:
    nowhere = S3Store("originals", endpoint="http://127.0.0.1:1", **CREDENTIALS)
    with pytest.raises(ProviderUnavailable) as refused:
        nowhere.size_of(KEY)
    assert refused.value.details == {"may_pass": True}
    nowhere._client.close()


def test_a_bucket_that_is_not_there_is_an_outage_and_not_an_empty_one(s3_url: str) -> None:
    elsewhere = S3Store("nobodys", endpoint=s3_url, **CREDENTIALS)
    with pytest.raises(ProviderUnavailable):
        elsewhere.put(KEY, b"anything")
    elsewhere._client.close()


def test_the_settings_choose_the_store(settings: Settings, tmp_path: Path, s3_url: str) -> None:
    settings.QUARRY_HOME = tmp_path
    assert live_store() == LocalStore(tmp_path / "files")
    settings.QUARRY_S3_BUCKET, settings.QUARRY_S3_ENDPOINT = "originals", s3_url
    settings.QUARRY_S3_ACCESS_KEY = settings.QUARRY_S3_SECRET_KEY = "testing"
    assert isinstance(live_store(), S3Store)
    assert live_store() is live_store()


def in_a_while() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=15)


def files_in(store: LocalStore) -> list[str]:
    return sorted(path.name for path in store.folder.rglob("*") if path.is_file())
