"""The OpenAPI document and the page that shows it."""

import re
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator


@pytest.fixture
def document() -> Any:
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(public=True)


def test_the_document_says_how_each_route_takes_its_credential(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    schemes = document["components"]["securitySchemes"]
    assert (schemes["token"]["type"], schemes["token"]["scheme"]) == ("http", "bearer")
    for path, methods in document["paths"].items():
        taken = "cookieAuth" if path.startswith("/api/v1/tokens") else "token"
        for method in methods.values():
            assert method["security"] == [{taken: []}]


def test_the_docs_page_needs_nothing_from_elsewhere(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) >= 3
    assert [source for source in sources if not source.startswith("/static/")] == []


def test_the_root_of_the_api_leads_to_its_docs(client: Client) -> None:
    assert client.get("/api/v1/").headers["Location"] == "/api/v1/docs/"
