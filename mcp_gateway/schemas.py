"""JSON Schemas as small as they can be: agents pay for every token of a tool list."""

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    """What a tool takes. A parameter that may be null is one that may be left out."""
    schema = _lean(model.model_json_schema())
    for name, inner in schema.get("properties", {}).items():
        if inner.get("default", "") is None:
            del inner["default"]
            schema["properties"][name] = _without_null(inner)
    return {"type": "object", "properties": {}, **schema}


def output_schema(model: type[BaseModel]) -> Schema:
    """What a tool answers, with every shape in its place: some clients follow no references."""
    return {"type": "object", **_lean(model.model_json_schema(mode="serialization"))}


def _lean(schema: Schema, definitions: Schema | None = None) -> Schema:
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        return _lean({**target, **{k: v for k, v in schema.items() if k != "$ref"}}, definitions)
    lean = {k: v for k, v in schema.items() if k not in ("title", "$defs")}
    for name, inner in lean.items():
        if name == "properties":
            lean[name] = {k: _lean(v, definitions) for k, v in inner.items()}
        elif name in ("items", "additionalProperties") and isinstance(inner, dict):
            lean[name] = _lean(inner, definitions)
    if "const" in lean:
        lean.pop("default", None)
    if "properties" in lean:
        lean.pop("description", None)  # a docstring, meant for us
    if "anyOf" in lean:
        options = [_lean(option, definitions) for option in lean.pop("anyOf")]
        lean = {**_joined(options), **lean}
    return lean


def _joined(options: list[Schema]) -> Schema:
    """`string or null` as one schema with two types."""
    plain = [option for option in options if option != {"type": "null"}]
    if len(plain) == 1 and isinstance(plain[0].get("type"), str):
        return {**plain[0], "type": [plain[0]["type"], "null"]}
    return {"anyOf": options}


def _without_null(schema: Schema) -> Schema:
    kind = schema.get("type")
    return {**schema, "type": kind[0]} if isinstance(kind, list) else schema
