import pytest
from django.core.exceptions import ImproperlyConfigured

from knowledge.providers import embedder_named, live_embedder
from knowledge.providers.fake import FakeEmbedder
from knowledge.providers.voyage import VoyageEmbedder


def test_the_settings_choose_one_embedder_for_the_whole_process(settings):
    settings.QUARRY_EMBEDDER = "fake"

    assert isinstance(live_embedder(), FakeEmbedder)
    assert live_embedder() is live_embedder()


def test_another_choice_in_the_settings_is_followed(settings):
    settings.VOYAGE_API_KEY, settings.VOYAGE_BASE_URL = "key", ""
    settings.QUARRY_EMBEDDER = "fake"
    assert live_embedder().name == "fake"

    settings.QUARRY_EMBEDDER = "voyage"

    assert live_embedder().name == "voyage-context-3"


def test_voyage_is_made_from_its_settings(settings):
    settings.VOYAGE_API_KEY, settings.VOYAGE_BASE_URL = "key", "http://voyage.test/v1/"

    embedder = embedder_named("voyage")

    assert isinstance(embedder, VoyageEmbedder)
    assert (embedder.name, embedder.dimensions) == ("voyage-context-3", 1024)
    assert embedder_named("voyage:voyage-context-4").name == "voyage-context-4"


def test_an_unknown_embedder_is_refused_with_the_known_names():
    with pytest.raises(
        ImproperlyConfigured,
        match=r"'word2vec'.*fake, granite, openai:MODEL, universal, voyage, voyage:MODEL",
    ):
        embedder_named("word2vec")
