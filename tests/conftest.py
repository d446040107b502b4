"""Fixtures that every part of the suite shares: two owners, folders, and tokens of every shape."""

import gc
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import hypothesis
import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import TransactionTestCase
from django.utils import timezone
from pytest_django import DjangoDbBlocker, Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.items import create_folder, file_item
from knowledge.models import Folder, Item
from tests.support.emptying import empty_tables
from tests.support.library import LONG_ENOUGH, TOOLSETS, Add, Mint, Minted
from tests.support.rollback import forget_everything
from tests.support.running import manage
from tests.support.sharing import (
    TEMPLATE,
    end_connections,
    make_shared_folder,
    make_template_database,
    making,
    shared_folder,
)
from tests.support.up import folder_of, wait_until_stopped
from tokens.minting import TokenRequest, mint_token

TESTS = Path(__file__).parent

# To look for garbage as often as usual takes a tenth of the time, and more of it while loading.
gc.set_threshold(100_000, 50, 100)

# A worker that runs within a test would make its process the slowest for the rest of the run.
setattr(os, "nice", lambda _: 0)  # noqa: B010

# The same examples in every run, and no verdict on how fast the machine is.
hypothesis.settings.register_profile(
    "quarry",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("quarry")

setattr(TransactionTestCase, "_fixture_teardown", lambda self: empty_tables())  # noqa: B010


PARTS = {"processes", "browser", "conformance"}
"""Folders whose tests only `make check` runs, as it does WALKS; each names a mark, too."""
WALKS = (
    "edges/",
    "accounts/test_every_route.py",
    "knowledge/admin/test_every_page.py",
    "knowledge/admin/test_rights.py",
    "knowledge/admin/test_whose_rows.py",
)
"""Folders and modules that go through every route and page as callers of every kind."""
SHARED = {"quarry", "product", "world", "used_before"}
"""Fixtures that take long to start, each once for all its tests."""
CARELESS = ("fsync = off", "full_page_writes = off", "wal_compression = off")
"""How Postgres writes faster what a power cut may take, as no test cuts it."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of what all processes of this run share; it goes with the first of them."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(make_shared_folder())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each part, and give what shares a server to one process.

    Parts come before the rest, so that nothing long is left for the end.
    """
    for item in items:
        path = item.path.relative_to(TESTS)
        folder = path.parts[0]
        if path.as_posix().startswith(WALKS):
            item.add_marker("walks")
        if folder in PARTS:
            item.add_marker(folder)
            for shared in SHARED & set(getattr(item, "fixturenames", ())):
                item.add_marker(pytest.mark.xdist_group(shared))
            if folder == "browser":
                item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: not any(item.iter_markers("processes")))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes go by the name of their argument: a zip has the time in it, and ids must be the same
    in every process."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish() -> None:
    """What is imported by now stays, and is not looked through for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Each process's database begins as a copy of one that is migrated once in a run."""
    with making("database") as is_made, django_db_blocker.unblock():
        if not is_made:
            make_template_database()
    connection.settings_dict["TEST"] |= {"TEMPLATE": TEMPLATE, "MIGRATE": False}


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, django_db_keepdb: bool
) -> Iterator[None]:
    """No autovacuum: it sees no row of a test, and the planner would take tables for empty.

    Nor any care on the suite's own cluster for what nobody needs after a crash.
    """
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        if "EMBEDDED_HOME" in connection.settings_dict:
            for setting in CARELESS:
                cursor.execute(f"ALTER SYSTEM SET {setting}")
            cursor.execute("SELECT pg_reload_conf()")
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = false)')
    yield
    if not django_db_keepdb:
        with django_db_blocker.unblock():  # else a thread that listens keeps it from being dropped
            end_connections(connection.settings_dict["NAME"])


@pytest.fixture(scope="session")
def migrated_home() -> Path:
    """A data folder with every table and no row, to be copied: to make it takes many seconds."""
    home = shared_folder() / "home"
    with making("home") as is_made:
        if not is_made:
            ended = manage(home, "migrate")
            assert ended.returncode == 0, ended.stderr
            wait_until_stopped(home)
            with (folder_of(home).data / "postgresql.auto.conf").open("a") as settings:
                settings.write("\n".join((*CARELESS, "")))
    return home


@pytest.fixture(autouse=True)
def nothing_left_over() -> None:
    forget_everything()


@pytest.fixture
def stopped_clock() -> Iterator[None]:
    """Whatever is counted by the hour is counted in one."""
    with time_machine.travel(timezone.now(), tick=False):
        yield


@pytest.fixture
def owner(db: None) -> User:
    caches["limits"].clear()
    return User.objects.create_user("ada")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("eve")


@pytest.fixture
def library(owner: User) -> Access:
    return Access.whole_library(owner.pk)


@pytest.fixture
def mint(owner: User) -> Mint:
    """Mint a token: for the whole library and with write unless told otherwise."""

    def mint_one(
        *folders: Folder,
        write: bool = True,
        kb_only: bool = False,
        by: User | None = None,
        name: str = "agent",
        toolsets: Collection[str] = TOOLSETS,
    ) -> Minted:
        request = TokenRequest(
            name=name,
            toolsets=toolsets,
            folder_ids=[folder.pk for folder in folders] or None,
            can_write=write,
            kb_only=kb_only,
        )
        return Minted(*mint_token(by or owner, request))

    return mint_one


@pytest.fixture
def add(library: Access) -> Add:
    """Add a text as the owner in person, into any folders."""

    def add_one(title: str, text: str = "", *folders: Folder, in_kb: bool = True) -> Item:
        item = add_text(library, title=title, text=(text or title) + LONG_ENOUGH, in_kb=in_kb)
        if folders:
            file_item(library, item.pk, [folder.pk for folder in folders])
        return item

    return add_one


@pytest.fixture
def folder(library: Access) -> Callable[[str], Folder]:
    return lambda name: create_folder(library, name)


@pytest.fixture
def site(httpserver: HTTPServer, settings: Settings) -> HTTPServer:
    """A site in this process, which the product may fetch from as if it were public."""
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    return httpserver
