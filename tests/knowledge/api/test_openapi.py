"""The OpenAPI document and the page that shows it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import _load_enum_name_overrides, load_enum_name_overrides
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from knowledge.api.errors import STATUSES
from knowledge.api.examples import EXAMPLES

SESSION_ONLY = {
    *("list_tokens", "mint_token", "revoke_token"),
    *("list_connections", "get_connection", "narrow_connection", "revoke_connection"),
}
SIGNED = {"download_export"}
"""The link is the whole credential."""


@pytest.fixture
def document() -> Any:
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(public=True)


def operations(document: Any) -> Iterator[tuple[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.items()


def test_nothing_is_wrong_with_the_names_of_choices(capsys: pytest.CaptureFixture[str]) -> None:
    _load_enum_name_overrides.cache_clear()
    load_enum_name_overrides()
    assert capsys.readouterr().err == ""


def test_the_document_is_valid(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_the_document_says_how_each_route_takes_its_credential(document: Any) -> None:
    schemes = document["components"]["securitySchemes"]
    assert (schemes["token"]["type"], schemes["token"]["scheme"]) == ("http", "bearer")
    for _, operation in operations(document):
        if operation["operationId"] in SIGNED:
            assert "security" not in operation
            continue
        taken = "cookieAuth" if operation["operationId"] in SESSION_ONLY else "token"
        assert {taken: []} in operation["security"]


def test_every_operation_lists_its_errors_in_the_one_envelope(document: Any) -> None:
    for method, operation in operations(document):
        expected = {"400", "500"}
        expected |= set() if operation["operationId"] in SIGNED else {"401"}
        expected |= set() if operation["operationId"] in SESSION_ONLY | SIGNED else {"429"}
        expected |= {"409"} if method == "post" else set()
        expected |= {"413", "415"} if "requestBody" in operation else set()
        assert expected <= operation["responses"].keys(), operation["operationId"]
        for status, response in operation["responses"].items():
            assert response["description"]
            assert "X-Request-ID" in response["headers"]
            if status >= "4":
                shown = response["content"]["application/json"]["schema"]
                assert shown == {"$ref": "#/components/schemas/Error"}
    codes = document["components"]["schemas"]["ErrorCode"]["enum"]
    assert codes == list(STATUSES)


def test_whatever_takes_texts_may_have_no_reader_for_long_ones(document: Any) -> None:
    may_fail = {
        operation["operationId"]
        for _, operation in operations(document)
        if "503" in operation["responses"]
    }
    assert may_fail >= {
        *("ingest", "ingest_batch", "update_item", "remember", "remember_batch", "manage_task"),
        *("contribute_skill", "contribute_knowledge"),
    }


def test_every_post_takes_an_idempotency_key(document: Any) -> None:
    for method, operation in operations(document):
        names = [parameter["name"] for parameter in operation.get("parameters", [])]
        assert ("Idempotency-Key" in names) is (method == "post")


def test_names_are_those_that_a_client_would_choose(document: Any) -> None:
    names = set(document["components"]["schemas"])
    assert {"Item", "FullItem", "Folder", "Search", "Error", "IngestInput"} <= names
    assert {"ItemType", "SearchMode", "IndexStatus", "Visibility", "WebhookEvent"} <= names
    assert [name for name in sorted(names) if name.endswith(("Output", "Enum"))] == []
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", each) for each in ids)


def test_what_may_be_null_says_so_and_what_is_answered_is_required(document: Any) -> None:
    schemas = document["components"]["schemas"]
    folder, item = schemas["Folder"], schemas["FullItem"]
    assert folder["properties"]["last_added_at"]["type"] == ["string", "null"]
    assert folder["properties"]["name"]["type"] == "string"
    assert set(folder["required"]) == set(folder["properties"])
    assert set(item["required"]) == set(item["properties"])
    assert schemas["FolderInput"]["required"] == ["name"]
    assert schemas["ItemChangesInput"].get("required", []) == []
    inputs = [schema for name, schema in schemas.items() if name.endswith("Input")]
    assert len(inputs) >= 8
    assert all(schema["additionalProperties"] is False for schema in inputs)


def examples(document: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where each example stands, its schema and itself."""
    for _, operation in operations(document):
        name = operation["operationId"]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for title, example in body.get("examples", {}).items():
            yield f"{name}: {title}", body["schema"], example["value"]
        for status, response in operation["responses"].items():
            shown = response.get("content", {}).get("application/json", {})
            if "example" in shown:
                yield f"{name}: {status}", shown["schema"], shown["example"]


def test_every_example_is_what_the_document_says(document: Any) -> None:
    whole = Resource.from_contents(document, default_specification=DRAFT202012)
    registry: Any = Registry().with_resource("urn:quarry", whole)
    found = list(examples(document))
    assert len(found) > 20
    for name, schema, example in found:
        rooted = {"$ref": f"urn:quarry{schema['$ref']}"}
        check = Draft202012Validator(rooted, registry=registry)
        assert [error.message for error in check.iter_errors(example)] == [], name
    known = {operation["operationId"] for _, operation in operations(document)}
    assert EXAMPLES.keys() <= known


def test_the_docs_page_needs_nothing_from_elsewhere(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) >= 3
    assert [source for source in sources if not source.startswith("/static/")] == []


def test_the_root_of_the_api_leads_to_its_docs(client: Client) -> None:
    assert client.get("/api/v1/").headers["Location"] == "/api/v1/docs/"
