"""The identifier of languages, with its large tables mapped from files that are unpacked once.

As its package loads them, they take half a second of CPU and 70 MB of memory in each process.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

_LARGE = ("ptc", "nextmove")
_SMALL = ("pc", "classes", "row", "output")

_folders: list[Path] = []


def keep_tables_in(folder: Path) -> None:
    """Where to unpack them; without a folder, or where nothing can be written, they are loaded."""
    _folders[:] = [folder]


@cache
def language_identifier() -> Any:
    """It tells a language by the pairs and triples of letters that are usual in it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    for folder in _folders:
        with suppress(OSError):
            return _map_tables(_tables_folder(folder))
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _map_tables(folder: Path) -> Any:
    from py3langid.langid import LanguageIdentifier

    ptc, nextmove = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in _LARGE)
    pc, classes, row, output = (np.load(folder / f"{name}.npy") for name in _SMALL)
    return LanguageIdentifier(
        np.asarray(ptc),
        pc,
        classes.tolist(),
        memoryview(nextmove),
        output.tolist(),
        norm_probs=True,
        tk_row=row.tolist(),
    )


def _tables_folder(folder: Path) -> Path:
    """The folder of the tables, complete as soon as it has its name."""
    whole = folder / f"languages-{version('py3langid')}"
    if not whole.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="languages-", dir=folder))
        try:
            _unpack_into(draft)
            with suppress(OSError):  # another process was faster
                draft.rename(whole)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return whole


def _unpack_into(draft: Path) -> None:
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    tables = {"ptc": ptc, "pc": pc, "classes": classes, "nextmove": nextmove, "row": row}
    for name, table in {**tables, "output": output}.items():
        with (draft / f"{name}.npy").open("wb") as file:
            np.save(file, np.asarray(table))
            file.flush()
            os.fsync(file.fileno())
