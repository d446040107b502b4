"""Every address of the server, read from its URL resolver and its OpenAPI document."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.contrib.admindocs.views import simplify_regex
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator


@cache
def every_address() -> tuple[str, ...]:
    """As templates: the names of parameters stand in angle brackets."""
    return tuple(_addresses_of(get_resolver().url_patterns, ""))


def pages_for_people() -> list[str]:
    """The pages of accounts and of consent: what a browser opens, beside the admin."""
    found = {each for each in every_address() if each.startswith("/accounts/")}
    return sorted(found | {"/oauth/authorize"})


@cache
def openapi_document() -> Any:
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(public=True)


def _addresses_of(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        whole = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _addresses_of(pattern.url_patterns, whole)
        else:
            yield simplify_regex(re.sub(r"<\w+:(\w+)>", r"<\1>", whole))
