"""PaddleOCR's models, as the package rapidocr brings them: finds lines of text and reads them.

That package itself needs OpenCV, which alone is an eighth of an installation.
"""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from knowledge.sources.parsers.layout import Box
from knowledge.sources.parsers.text_lines import Corners, find_lines

Pixels = NDArray[np.float32]

LEAST_SIDE = 30
LEAST_SIDE_TO_SEARCH = 736
LONGEST_SIDE_TO_SEARCH = 4_000
"""Narrow strips are enlarged no further than this."""
STEP = 32
"""Sides of what is searched are multiples of this."""
WIDEST = 8
"""A picture this many times as wide as high gets black above and below."""
SMALLEST_LINE = 3
UPRIGHT = 1.5
"""What is this many times as high as wide is written upwards or downwards."""

READ_HEIGHT, READ_WIDTH = 48, 320
TURN_WIDTH = 192
MAY_BE_TURNED = 0.5
SURE = 0.5
BATCH = 6


class PaddleOcr:
    """The three models, with one thread: the worker has other jobs."""

    def __init__(self, models: Path) -> None:
        self._find = _load(models, "det")
        self._turn = _load(models, "cls")
        self._read = _load(models, "rec")
        characters = self._read.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *characters, " "]  # the first stands for nothing

    @classmethod
    def installed(cls) -> "PaddleOcr":
        spec = find_spec("rapidocr")
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError("rapidocr")
        return cls(Path(spec.submodule_search_locations[0]) / "models")

    def boxes(self, image: Image.Image) -> list[Box]:
        """The lines of text in an RGB picture, and where they are."""
        scale = _enlargement(image, LEAST_SIDE)
        image = image.resize((round(image.width * scale), round(image.height * scale)))
        above = _missing_height(image) // 2
        padded = Image.new("RGB", (image.width, image.height + 2 * above))
        padded.paste(image, (0, above))
        lines = list(self._lines(padded))
        found = []
        for corners, (text, score) in zip(lines, self._read_lines(padded, lines), strict=True):
            if text.strip() and score >= SURE:
                left, top = (corners.min(axis=0) - (0, above)) / scale
                right, bottom = (corners.max(axis=0) - (0, above)) / scale
                found.append(Box(float(left), float(top), float(right), float(bottom), text))
        return found

    def _lines(self, image: Image.Image) -> Iterator[Corners]:
        scale = _enlargement(image, LEAST_SIDE_TO_SEARCH)
        width, height = (max(STEP, round(side * scale / STEP) * STEP) for side in image.size)
        searched = _normalized(image.resize((width, height), Image.Resampling.BILINEAR))
        [found] = self._find.run(None, {"x": searched[None]})
        for corners in find_lines(found[0, 0]):
            placed = np.round(corners / (width, height) * image.size)
            placed = np.clip(placed, 0, (image.width - 1, image.height - 1))
            if min(_size(placed)) > SMALLEST_LINE:
                yield placed

    def _read_lines(self, image: Image.Image, lines: Sequence[Corners]) -> list[tuple[str, float]]:
        """What each line says; one that is or seems to be turned is read both ways.

        The model that tells sees a long line narrowed, and errs in one of a hundred.
        """
        pictures = [_cut(image, corners) for corners in lines]
        doubtful = [
            at
            for at, line in enumerate(pictures)
            if _is_upright(lines[at]) or self._seems_turned(line)
        ]
        turned = [pictures[at].transpose(Image.Transpose.ROTATE_180) for at in doubtful]
        texts = self._texts([*pictures, *turned])
        found, others = texts[: len(lines)], texts[len(lines) :]
        for at, other in zip(doubtful, others, strict=True):
            found[at] = max(found[at], other, key=lambda one: one[1])
        return found

    def _seems_turned(self, line: Image.Image) -> bool:
        [[likelihood]] = self._turn.run(None, {"x": _fitted(line, TURN_WIDTH)[None]})
        return bool(likelihood[1] > MAY_BE_TURNED)

    def _texts(self, lines: Sequence[Image.Image]) -> list[tuple[str, float]]:
        """What each line says and how sure that is; lines of like width are read together."""
        texts = [("", 0.0)] * len(lines)
        order = sorted(range(len(lines)), key=lambda at: lines[at].width / lines[at].height)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            widest = lines[batch[-1]]
            width = max(READ_WIDTH, int(READ_HEIGHT * widest.width / widest.height))
            [found] = self._read.run(
                None, {"x": np.stack([_fitted(lines[at], width) for at in batch])}
            )
            for at, likelihood in zip(batch, found, strict=True):
                texts[at] = self._text(likelihood)
        return texts

    def _text(self, likelihood: Pixels) -> tuple[str, float]:
        """Of each column the likeliest character, once where it repeats."""
        best = likelihood.argmax(axis=1)
        is_new = np.append(True, best[1:] != best[:-1]) & (best != 0)
        if not is_new.any():
            return "", 0.0
        text = "".join(self._characters[at] for at in best[is_new])
        return text, float(likelihood.max(axis=1)[is_new].mean())


def _load(models: Path, task: str) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    [path] = models.glob(f"*_{task}_*.onnx")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _enlargement(image: Image.Image, least_side: int) -> float:
    return max(1.0, min(least_side / min(image.size), LONGEST_SIDE_TO_SEARCH / max(image.size)))


def _missing_height(image: Image.Image) -> int:
    if image.height > LEAST_SIDE and image.width <= WIDEST * image.height:
        return 0
    return max(image.width // WIDEST, LEAST_SIDE) * 2 - image.height


def _cut(image: Image.Image, corners: Corners) -> Image.Image:
    """The line alone, made level; what is written upwards or downwards is laid on its side."""
    width, height = _size(corners)
    top_left, top_right, bottom_right, bottom_left = corners.tolist()
    around = (*top_left, *bottom_left, *bottom_right, *top_right)
    size = (max(1, int(width)), max(1, int(height)))
    line = image.transform(size, Image.Transform.QUAD, around, Image.Resampling.BICUBIC)
    return line.transpose(Image.Transpose.ROTATE_90) if _is_upright(corners) else line


def _is_upright(corners: Corners) -> bool:
    width, height = _size(corners)
    return height >= width * UPRIGHT


def _size(corners: Corners) -> tuple[float, float]:
    width = max(np.hypot(*(corners[1] - corners[0])), np.hypot(*(corners[2] - corners[3])))
    height = max(np.hypot(*(corners[3] - corners[0])), np.hypot(*(corners[2] - corners[1])))
    return float(width), float(height)


def _fitted(line: Image.Image, width: int) -> Pixels:
    """As high as the models read, and filled up on the right."""
    own = min(width, ceil(READ_HEIGHT * line.width / line.height))
    filled = np.zeros((3, READ_HEIGHT, width), np.float32)
    resized = line.resize((own, READ_HEIGHT), Image.Resampling.BILINEAR)
    filled[:, :, :own] = _normalized(resized)
    return filled


def _normalized(image: Image.Image) -> Pixels:
    """From -1 to 1: blue, green, red."""
    pixels = np.asarray(image, np.float32)[:, :, ::-1].transpose(2, 0, 1)
    return np.ascontiguousarray(pixels / 127.5 - 1)
