"""Lines of text are found in a map of likelihoods, and read in whatever way they lie."""

from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image, ImageDraw

from knowledge.sources.parsers.paddle_ocr import PaddleOcr
from knowledge.sources.parsers.text_lines import Corners, find_lines, smallest_rectangle
from tests.support.pictures import LINES, picture

TILTED = np.array([(20.0, 60.0), (180.0, 100.0), (175.0, 120.0), (15.0, 80.0)])


def drawn(*polygons: Corners, likelihood: float = 0.9) -> Image.Image:
    page = Image.new("F", (400, 300))
    for corners in polygons:
        ImageDraw.Draw(page).polygon([tuple(each) for each in corners.tolist()], fill=likelihood)
    return page


def test_the_smallest_rectangle_lies_as_its_points_do() -> None:
    inside = TILTED.mean(axis=0) + np.array([(0, 0), (5, 1), (-7, 0)])
    found = smallest_rectangle(np.concatenate([TILTED[::-1], inside]))
    assert np.allclose(found, TILTED, atol=2)


@pytest.mark.parametrize("points", [[(3, 4)], [(3, 4), (9, 4)], [(3, 4), (3, 9), (3, 5)]])
def test_points_on_a_line_have_a_flat_rectangle(points: list[tuple[int, int]]) -> None:
    found = smallest_rectangle(np.array(points))
    assert np.allclose(found.min(axis=0), np.min(points, axis=0))
    assert np.allclose(found.max(axis=0), np.max(points, axis=0))


def test_each_patch_is_a_line_and_grows_to_all_sides() -> None:
    level = np.array([(220.0, 30.0), (360.0, 30.0), (360.0, 50.0), (220.0, 50.0)])
    found = sorted(find_lines(np.asarray(drawn(TILTED, level))), key=lambda one: one[0, 0])
    assert len(found) == 2
    for corners, core in zip(found, (TILTED, level), strict=True):
        width, height = (np.hypot(*(core[at] - core[0])) for at in (1, 3))
        grown = [np.hypot(*(corners[at] - corners[0])) for at in (1, 3)]
        by = 1.6 * width * height / (width + height)
        assert np.allclose(grown, (width + by, height + by), atol=4)
        assert np.allclose(corners.mean(axis=0), core.mean(axis=0), atol=1)


def test_specks_and_faint_patches_are_no_lines() -> None:
    speck = np.array([(10.0, 10.0), (11.0, 10.0), (11.0, 11.0), (10.0, 11.0)])
    assert find_lines(np.asarray(drawn(speck))) == []
    assert find_lines(np.asarray(drawn(TILTED, likelihood=0.4))) == []
    assert find_lines(np.zeros((32, 32), np.float32)) == []


@pytest.mark.skipif(not find_spec("rapidocr"), reason="needs the extra quarry[ocr]")
def test_lines_are_read_tilted_upright_and_upside_down_and_none_in_a_blank_strip() -> None:
    ocr = PaddleOcr.installed()
    assert ocr.boxes(Image.new("RGB", (1_800, 1), "white")) == []
    page = picture(LINES[0]).crop((0, 0, 700, 350))
    for turned in (
        page.rotate(6, fillcolor="white"),
        page.transpose(Image.Transpose.ROTATE_90),
        page.transpose(Image.Transpose.ROTATE_180),
    ):
        assert [box.text for box in ocr.boxes(turned)] == [LINES[0]]
