"""The tables of the language identifier, mapped from files or loaded."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from knowledge.text.language_tables import _folders, keep_tables_in, language_identifier

TEXTS = ["The quarry is closed.", "Der Steinbruch ist zu.", "La cantera está cerrada.", "採石場"]


@pytest.fixture(autouse=True)
def the_same_folder_afterwards() -> Iterator[None]:
    before = list(_folders)
    language_identifier.cache_clear()
    yield
    _folders[:] = before
    language_identifier.cache_clear()


def test_mapped_tables_tell_what_loaded_ones_tell(tmp_path: Path) -> None:
    keep_tables_in(tmp_path / "models")
    mapped = language_identifier()
    language_identifier.cache_clear()
    _folders.clear()
    loaded = language_identifier()
    assert [mapped.rank(text) for text in TEXTS] == [loaded.rank(text) for text in TEXTS]
    assert isinstance(mapped.nb_ptc.base, np.memmap | memoryview)
    assert not isinstance(loaded.nb_ptc.base, np.memmap | memoryview)
    [folder] = (tmp_path / "models").iterdir()
    assert len(list(folder.iterdir())) == 6


def test_where_nothing_can_be_written_they_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("not a folder")
    keep_tables_in(tmp_path / "models")
    assert language_identifier().classify(TEXTS[1])[0] == "de"
