import numpy as np
import pytest

from knowledge.errors import ProviderUnavailable
from knowledge.providers.fake import FakeEmbedder


def test_texts_that_share_words_lie_nearer_than_texts_that_share_none():
    query = FakeEmbedder().embed_query("how are granite quarries drained")
    near, far = FakeEmbedder().embed_document(
        ["Draining a granite quarry takes pumps.", "The orchestra tuned its violins."]
    )

    assert query @ near > 0.3 > query @ far


def test_every_vector_is_a_unit_vector_of_the_asked_dimensions():
    texts = ["one two three", "", "!?", "漢字", "\ud800", "x " * 10_000]

    vectors = FakeEmbedder(dimensions=48).embed_document(texts)

    assert vectors.shape == (6, 48)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6))


def test_a_document_without_chunks_has_no_vectors():
    assert FakeEmbedder(dimensions=16).embed_document([]).shape == (0, 16)


def test_the_same_text_has_the_same_vector_in_every_process():
    vector = FakeEmbedder(dimensions=8).embed_query("stable hashes")

    assert vector == pytest.approx(np.array([0, 0, 1, 0, 1, 0, 0, 0]) / np.sqrt(2))


def test_it_fails_on_demand_and_recovers():
    embedder = FakeEmbedder(failure=ProviderUnavailable("down"))
    with pytest.raises(ProviderUnavailable):
        embedder.embed_query("anything")
    with pytest.raises(ProviderUnavailable):
        embedder.embed_document(["anything"])

    embedder.failure = None

    assert embedder.embed_query("anything").shape == (64,)
