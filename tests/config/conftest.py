"""Homes for bundled servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.up import copied_home, temporary_home, using, wait_until_stopped


@pytest.fixture
def empty_home() -> Iterator[Path]:
    with temporary_home() as home:
        yield home


@pytest.fixture(scope="session")
def made_home() -> Iterator[Path]:
    with temporary_home() as home:
        with using(home) as user:
            user.sql("CREATE TABLE note (body text)")
        yield home


@pytest.fixture
def home(made_home: Path) -> Iterator[Path]:
    """A home of its own that was used before and has a table."""
    wait_until_stopped(made_home)
    with copied_home(made_home) as home:
        yield home
