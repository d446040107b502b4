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
        lean["anyOf"] = [_lean(option, definitions) for option in lean["anyOf"]]
    return lean


def _without_null(schema: Schema) -> Schema:
    """What may be null as what it is when it is given."""
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    return {**options[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
