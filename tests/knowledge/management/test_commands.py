"""The commands that people type, as they see them."""

import io
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.ingest import contents
from knowledge.library.items import create_folder
from knowledge.management import waiting
from knowledge.models import Content, Item, Upload
from knowledge.storage import live_store
from tests.support.files import pdf
from tests.support.pages import ARTICLE, serve_page
from tests.support.recordings import speech, written

TEXT = "Decisions: ship the API docs. The folder rename is deferred to June."


@pytest.fixture(autouse=True)
def admin(db: None, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> User:
    settings.QUARRY_HOME = tmp_path_factory.mktemp("home")
    return User.objects.create_superuser("admin")


def run(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


# add -------------------------------------------------------------------------------------


def test_add_takes_a_file_standard_input_or_the_words_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.md"
    file.write_text(TEXT)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"# From a pipe\n\n{TEXT}"))
    longer_than_a_name = f"{TEXT} " * 10
    for source in (str(file), "-", TEXT, longer_than_a_name):
        assert "(done)" in run("add", source)
    titles = [item.title for item in Item.objects.order_by("created_at")]
    assert titles == ["notes.md", "From a pipe", TEXT, longer_than_a_name[:80].strip()]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("missing-notes-of-march.md", "No such file or directory"),
        ("./my notes of march.md", "No such file or directory"),
        ("/", "Is a directory"),
    ],
)
def test_add_never_takes_a_path_for_a_text(source: str, reason: str) -> None:
    with pytest.raises(CommandError, match=f"^{source} cannot be read: {reason}"):
        run("add", source)
    assert not Item.objects.exists()


def test_add_files_into_a_folder_that_there_is_and_names_them_otherwise(admin: User) -> None:
    create_folder(Access.whole_library(admin.pk), "Research")
    run("add", TEXT, "--folder", "research")
    assert Item.objects.get().folders.get().name == "Research"
    with pytest.raises(CommandError, match="no folder 'Nowhere'; there are: 'Research'"):
        run("add", TEXT, "--folder", "Nowhere")
    assert Item.objects.count() == 1


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is quick: whatever waits is done before the next look."""

    def work() -> None:
        for content in Content.objects.filter(state="queued"):
            job = contents.transcribe_content if content.is_recording else contents.extract_content
            job.fn(str(content.pk))

    monkeypatch.setattr(waiting, "pause", work)


def test_add_takes_a_link(httpserver: HTTPServer, settings: Settings) -> None:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    assert "  How rivers carve stone  (done)" in run(
        "add", serve_page(httpserver, "/rivers", ARTICLE)
    )
    assert Item.objects.get().content.kind == "webpage"


def test_add_says_why_a_link_is_refused() -> None:
    with pytest.raises(CommandError, match="private or special address"):
        run("add", "http://10.0.0.1/secrets")
    assert not Content.objects.exists()


def test_add_takes_files_of_every_kind_and_waits_until_they_are_ready(
    tmp_path: Path, working: None, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = pdf("Granite is hard.", "Slate splits.", info="/Title (On Stones)")
    (tmp_path / "stones.pdf").write_bytes(pages)
    written(tmp_path / "talk.wav", speech())
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    lines = run("add", *files, "--wait", "--tag", "rock").splitlines()
    assert [line.split("  ")[1:] for line in lines] == [
        ["On Stones", "(keyword)"],
        ["talk", "(keyword)"],
    ]
    assert "100%  11 of 11 seconds of recording" in capsys.readouterr().err
    assert {tag for item in Item.objects.all() for tag in item.tags} == {"rock"}
    for upload in Upload.objects.all():
        assert live_store().size_of(upload.key) == upload.size


def test_add_of_a_file_leaves_it_to_the_worker_unless_told_to_wait(tmp_path: Path) -> None:
    (tmp_path / "stones.pdf").write_bytes(pdf("Granite is hard."))
    assert "(processing)" in run("add", str(tmp_path / "stones.pdf"))


def test_of_several_sources_one_that_fails_does_not_stop_the_others(
    tmp_path: Path, working: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 of nothing")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 and then nothing")
    (tmp_path / "c.pdf").write_bytes(pdf("Granite is hard."))
    with pytest.raises(CommandError, match="2 of 3 could not be added"):
        run("add", *map(str, sorted(tmp_path.iterdir())), "--wait")
    told = capsys.readouterr().err
    assert f"{tmp_path}/a.zip: Its first bytes are of no kind that is taken" in told
    assert f"{tmp_path}/b.pdf: " in told
    assert Item.objects.filter(content__state="ready").count() == 1


def test_a_file_that_is_refused_leaves_nothing_behind(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "talk.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt broken")
    with pytest.raises(CommandError):
        run("add", str(tmp_path / "talk.wav"))
    assert not Upload.objects.exists()
    assert not Item.objects.exists()
    assert not [path for path in settings.QUARRY_HOME.rglob("*") if path.is_file()]


def test_one_title_is_not_for_two_sources() -> None:
    with pytest.raises(CommandError, match="--title is for one source"):
        run("add", TEXT, TEXT, "--title", "Both")


# search ----------------------------------------------------------------------------------


def test_search_prints_score_title_passage_and_link_with_a_line_between_hits() -> None:
    for title in ("One", "Two"):
        run("add", f"{TEXT} {title}.", "--title", title)
    first, second, rest = run("search", "folder rename").split("\n\n")
    assert rest == ""
    for number, hit in enumerate((first, second), start=1):
        head, passage, link = hit.split("\n   ")
        assert head.startswith(f"{number}. (")
        assert passage.startswith(TEXT)
        assert link.startswith("quarry://items/")
    assert run("search", "folder rename", "--folder", "") == run("search", "folder rename")


def test_search_says_what_is_suspected() -> None:
    run("add", TEXT)
    assert "suspected" not in run("search", "folder rename")
    Item.objects.update(suspicions=[{"rule": "suspected_order"}])
    assert "\n   suspected: suspected_order\n" in run("search", "folder rename")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["", "--mode", "keyword"], "query must have between 1 and 10,000"),
        (["x", "--limit", "21"], "limit must be between 1 and 20; it is 21"),
        (["x", "--owner", "bob"], "no user 'bob'; there are: admin"),
    ],
)
def test_search_refuses_what_it_cannot_do_in_a_sentence(options: list[str], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        run("search", *options)


def test_a_command_before_the_first_start_says_what_to_do() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE auth_user RENAME TO elsewhere")
    with pytest.raises(CommandError, match="no tables yet; `make run` makes them"):
        run("search", "x")


# doctor ----------------------------------------------------------------------------------


def test_doctor_finds_nothing_to_fix_in_a_new_library() -> None:
    found = run("doctor")
    assert "users: 1; tokens not revoked: 0" in found
    assert "fail" not in found
