"""The command that crawls, as people see it."""

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from knowledge.management.commands import crawl
from tests.support.adding import run_jobs
from tests.support.site import DocSite

pytestmark = pytest.mark.django_db


def run(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


@pytest.fixture
def docs(docs: DocSite, monkeypatch: pytest.MonkeyPatch) -> DocSite:
    """A site, and a worker that is quick: what waits is done before the next look."""
    User.objects.create_superuser("admin")
    monkeypatch.setattr(crawl, "pause", run_jobs)
    docs.write("/", "the start", "/next")
    docs.write("/next", "what follows")
    return docs


def test_crawl_adds_a_site_and_crawls_it_again_by_its_name_with_a_line_of_progress(
    docs: DocSite, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run("crawl", docs.url(), "--name", "Docs", "--exclude", "/old/*", "--wait")
    assert said.endswith("  Docs  (done, 2 pages)\n")
    assert "100%  2 of 2 pages" in capsys.readouterr().err
    docs.forget()
    assert run("crawl", "docs", "--wait").endswith("  Docs  (done, 2 pages)\n")
    assert not {"/", "/next"} & set(docs.served)


def test_crawl_says_what_went_wrong_in_a_sentence(docs: DocSite) -> None:
    docs.pages.clear()
    with pytest.raises(CommandError, match="There is nothing at this address"):
        run("crawl", docs.url(), "--wait")
    with pytest.raises(CommandError, match="There is no source 'Lost'; there are: 'localhost"):
        run("crawl", "Lost")
    with pytest.raises(CommandError, match="depth must be between 1 and 5"):
        run("crawl", docs.url(), "--name", "Deep", "--depth", "9")
