"""Every request that a caller can make, with one of its fields grown to any size.

Routes come from the OpenAPI document and tools from `tools/list`, so that a new one is grown too.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.fuzz.texts import DEAREST, HOSTILE, SHORT_FIELD
from knowledge.budgets import BODIES

Json = dict[str, Any]
METHODS = ("get", "post", "put", "patch")
"""All but `delete`, which comes when nothing else asks for its row any more."""
LONG_FIELD = 10_000
"""Characters from which on a field is grown by every dear text, and not by some."""
UNBOUNDED = 500_000
QUERY = 30_000
"""A server takes no longer line of a request than 64 kB."""
ENTRIES = 100_000
BODY = 7_000_000
DEPTH = 100_000
BEGINNINGS = ("page", "offset", "version")
"""Numbers that say where an answer begins: at their greatest nothing is found."""
ALWAYS = ("query", "entity_id")
"""Parameters without which nothing is looked for."""


@dataclass(frozen=True)
class Growth:
    """A request whose field grows: `make(n)` is its path and body with a field of size n."""

    method: str
    name: str
    what: str
    most: int
    make: Callable[[int], tuple[str, bytes]]


def of_routes(
    document: Json, ids: Mapping[str, Any], *, every: bool, methods: Sequence[str] = METHODS
) -> Iterator[Growth]:
    """Every field of every operation of these methods in an OpenAPI document."""
    for path, operations in document["paths"].items():
        for method in methods:
            if operation := operations.get(method):
                yield from _of_operation(document, path, method, operation, ids, every)


def of_tools(tools: list[Json], ids: Mapping[str, Any], *, every: bool) -> Iterator[Growth]:
    """Every argument of every tool."""
    for what, most, raw in _bodies():
        make = _raw_tool_call(tools[0]["name"], raw)
        yield Growth("POST", f"MCP {tools[0]['name']}", what, most, make)
    for tool in tools:
        schema = tool["inputSchema"]
        base = {
            field: _value(field, schema["properties"][field], ids)
            for field in schema.get("required", [])
        }
        if "kind" in base:
            base |= {"title": "Granite", "text": HOSTILE["prose"](400)}
        yield Growth(
            "POST",
            f"MCP {tool['name']}",
            "as it is",
            1,
            _tool_call(tool["name"], _always(base)),
        )
        for what, most, grow in _fields(base, schema, {}, every):
            make = _tool_call(tool["name"], grow)
            yield Growth("POST", f"MCP {tool['name']}", what, most, make)


def _tool_call(name: str, grow: Callable[[int], Any]) -> Callable[[int], tuple[str, bytes]]:
    def make(size: int) -> tuple[str, bytes]:
        params = {"name": name, "arguments": grow(size)}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return "/mcp", json.dumps(call).encode()

    return make


def _always(value: Any) -> Callable[[int], Any]:
    return lambda size: value


def _raw_tool_call(name: str, raw: Callable[[int], bytes]) -> Callable[[int], tuple[str, bytes]]:
    head = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": '
    tail = f', "name": "{name}"}}}}'.encode()
    return lambda size: ("/mcp", head + raw(size) + tail)


# One operation ---------------------------------------------------------------------------------


def _of_operation(
    document: Json, path: str, method: str, operation: Json, ids: Mapping[str, Any], every: bool
) -> Iterator[Growth]:
    named = f"{method.upper()} {path.removeprefix('/api/v1')}"
    address = path.replace("{", "%(").replace("}", ")s") % _known(path, ids)
    given = {
        each["name"]: _resolve(document, each["schema"])
        for each in operation.get("parameters", [])
        if each["in"] == "query"
    }
    plain = {name: _value(name, given[name], ids) for name in given if name in ALWAYS}
    widest = plain | _largest(given)
    if "requestBody" not in operation:
        yield Growth(method.upper(), named, "as it is", 1, _query(address, plain))
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        field = given.get(name, {})
        for value in field.get("enum", ()):
            make = _query(address, {**widest, name: value})
            yield Growth(method.upper(), named, f"?{name}: {value}", 1, make)
        if "integer" in _types(field):
            make = _query(address, widest, grows=name)
            yield Growth(method.upper(), named, f"?{name}: number", field["maximum"], make)
        elif parameter["in"] in ("query", "path"):
            make = _parameter(path, address, parameter, ids)
            yield Growth(method.upper(), named, f"?{name}", QUERY, make)
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    schema = _resolve(document, content["schema"])
    for example, base in _examples(content, schema, ids):
        yield Growth(method.upper(), named, f"{example}as it is", 1, _body(address, _always(base)))
        for what, most, grow in _fields(base, schema, document, every):
            yield Growth(method.upper(), named, example + what, most, _body(address, grow))
    if path in BODIES or path.endswith("/folders"):  # one of each budget: parsing is one code
        for what, most, raw in _bodies():
            yield Growth(method.upper(), named, what, most, _raw_body(address, raw))


def _body(address: str, grow: Callable[[int], Any]) -> Callable[[int], tuple[str, bytes]]:
    return lambda size: (address, json.dumps(grow(size)).encode())


def _raw_body(address: str, raw: Callable[[int], bytes]) -> Callable[[int], tuple[str, bytes]]:
    return lambda size: (address, raw(size))


def _known(path: str, ids: Mapping[str, Any]) -> dict[str, str]:
    """What each parameter of a path is; `item_id` is another one below `/skills`."""
    names = [part.partition("}")[0] for part in path.split("{")[1:]]
    room = path.removeprefix("/api/v1/").partition("/")[0]
    return {name: ids.get(f"{room}.{name}") or ids.get(name) or ids["item_id"] for name in names}


def _parameter(
    path: str, address: str, parameter: Json, ids: Mapping[str, Any]
) -> Callable[[int], tuple[str, bytes]]:
    def make(size: int) -> tuple[str, bytes]:
        text = quote(HOSTILE["prose"](size // 2))[:size]
        if parameter["in"] == "path":
            known = {**_known(path, ids), parameter["name"]: text}
            return path.replace("{", "%(").replace("}", ")s") % known, b""
        return f"{address}?{parameter['name']}={text}", b""

    return make


def _query(address: str, given: Json, *, grows: str = "") -> Callable[[int], tuple[str, bytes]]:
    """These parameters, one of them a number that grows."""

    def make(size: int) -> tuple[str, bytes]:
        asked = {**given, grows: size} if grows else given
        return f"{address}?{urlencode(asked)}", b""

    return make


def _largest(fields: Mapping[str, Json]) -> Json:
    """The greatest of every number that an answer grows with; where it begins is not one."""
    return {
        name: field["maximum"]
        for name, field in fields.items()
        if "integer" in _types(field) and "maximum" in field and name not in BEGINNINGS
    }


def _examples(content: Json, schema: Json, ids: Mapping[str, Any]) -> list[tuple[str, Json]]:
    """The document's, each with its name and with ids that there are, or what is required."""
    given = [
        (f"{name}, ", {**each["value"], **{id_: ids[id_] for id_ in ids if id_ in each["value"]}})
        for name, each in content.get("examples", {}).items()
    ]
    required = schema.get("required", [])
    made = {field: _value(field, schema["properties"][field], ids) for field in required}
    return given or [("", made)]


def _resolve(document: Json, schema: Json) -> Json:
    while "$ref" in schema or "allOf" in schema:
        named = schema.get("$ref") or schema["allOf"][0]["$ref"]
        schema = document["components"]["schemas"][named.rpartition("/")[2]]
    return schema


# Fields ----------------------------------------------------------------------------------------


def _fields(
    base: Json, schema: Json, document: Json, every: bool
) -> Iterator[tuple[str, int, Callable[[int], Any]]]:
    """What grows, how far, and the arguments with it at any size."""
    properties = schema.get("properties", {})
    resolved = {name: _resolve(document, field) for name, field in properties.items()}
    widest = base | _largest(resolved)
    for name, found in resolved.items():
        for value in found.get("enum", ()):
            yield f"{name}: {value}", 1, _setting(widest, (name,), _always(value))
        if name not in base and "string" in _types(found) and "enum" not in found:
            yield from _texts(base, (name,), "", found.get("maxLength", UNBOUNDED), every)
        if "integer" in _types(found):
            most = found.get("maximum", UNBOUNDED)
            yield f"{name}: number", most, _setting(widest, (name,), lambda n: n)
        if "array" in _types(found):
            yield f"{name}: entries", ENTRIES, _setting(base, (name,), lambda n: ["a"] * n)
            yield f"{name}: new entries", ENTRIES, _setting(base, (name,), _different)
        if "object" in _types(found):
            yield f"{name}: keys", ENTRIES, _setting(base, (name,), _keys)
            yield f"{name}: depth", DEPTH // 250, _setting(base, (name,), _deep)
    for path, value in _leaves(base):
        longest = _resolve(document, properties.get(str(path[0]), {})).get("maxLength", UNBOUNDED)
        yield from _texts(base, path, value, longest - len(value), every)
    for path in _lists(base):
        yield f"{_shown(path)}: repeated", ENTRIES // 4, _setting(base, path, _repeated(base, path))


def _texts(
    base: Json, path: tuple[Any, ...], before: str, longest: int, every: bool
) -> Iterator[tuple[str, int, Callable[[int], Any]]]:
    names = SHORT_FIELD if longest < LONG_FIELD else DEAREST if not every else tuple(HOSTILE)
    for name in names:
        yield f"{_shown(path)}: {name}", longest, _setting(base, path, _after(before, name))
    if longest < LONG_FIELD:
        yield f"{_shown(path)}: too long", UNBOUNDED, _setting(base, path, _after(before, "prose"))


def _after(before: str, name: str) -> Callable[[int], str]:
    return lambda size: before + HOSTILE[name](size)


def _setting(
    base: Json, path: tuple[Any, ...], value: Callable[[int], Any]
) -> Callable[[int], Any]:
    def make(size: int) -> Any:
        grown = copy.deepcopy(base)
        inner: Any = grown
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value(size)
        return grown

    return make


def _bodies() -> Iterator[tuple[str, int, Callable[[int], bytes]]]:
    """Whole values that are dear to parse, whatever is asked for."""
    yield "depth of brackets", DEPTH, lambda n: b"[" * n + b"]" * n
    yield "depth of objects", DEPTH, lambda n: b'{"a":' * n + b"1" + b"}" * n
    yield "unclosed brackets", BODY, lambda n: b"[" * n
    yield "empty arrays", BODY, lambda n: b'{"a":[' + b"[]," * (n // 3) + b"[]]}"
    yield "numbers", BODY, lambda n: b'{"a":[' + b"1," * (n // 2) + b"1]}"
    yield "one number", UNBOUNDED, lambda n: b'{"a":' + b"7" * n + b"}"
    yield "unknown keys", BODY, lambda n: json.dumps(_keys(n // 14)).encode()
    yield "escapes", BODY, lambda n: b'{"a":"' + rb"\u0041" * (n // 6) + b'"}'
    yield "escaped quotes", BODY, lambda n: b'{"a":"' + rb"\"" * (n // 2) + b'"}'
    yield "blanks", BODY, lambda n: b" " * n + b"{}"


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value[:1]):
            yield from _leaves(inner, (*path, at))


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, list) and value:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for step, each in inner if isinstance(value, (dict, list)) else ():
        if isinstance(each, (dict, list)):
            yield from _lists(each, (*path, step))


def _repeated(base: Any, path: tuple[Any, ...]) -> Callable[[int], Any]:
    for step in path:
        base = base[step]
    return lambda n: [base[0]] * n


def _different(size: int) -> list[str]:
    return [f"entry {number}" for number in range(size)]


def _keys(size: int) -> dict[str, int]:
    return {f"key {number}": 1 for number in range(size)}


def _deep(size: int) -> Any:
    value: Any = "a"
    for _ in range(size):
        value = {"a": value}
    return value


def _types(schema: Json) -> list[str]:
    told = schema.get("type", [])
    return [told] if isinstance(told, str) else told


def _value(name: str, schema: Json, ids: Mapping[str, Any]) -> Any:
    """A plain value for a field that must be there."""
    if name in ids:
        return ids[name]
    if "enum" in schema:
        return "text" if "text" in schema["enum"] else schema["enum"][0]
    kinds = _types(schema)
    plain = {"integer": 1, "number": 0.5, "boolean": True, "array": ["a"], "object": {}}
    return next((plain[kind] for kind in kinds if kind in plain), "granite in a quarry")


def _shown(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))
