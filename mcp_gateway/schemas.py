"""JSON Schemas as small as they can be: agents pay for every token of a tool list."""

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    """What a tool takes. A parameter that may be null is one that may be left out."""
    schema = _without_detail(_lean(model.model_json_schema()))
    for name, inner in schema.get("properties", {}).items():
        if inner.get("default", "") is None:
            del inner["default"]
            schema["properties"][name] = _without_null(inner)
    return {"type": "object", "properties": {}, **schema}


def _without_detail(schema: Schema) -> Schema:
    """Without what a call that errs is told anyway: that an id is a UUID, that a text has words."""
    kept = {k: v for k, v in schema.items() if k not in ("minLength", "maxItems")}
    if kept.get("format") == "uuid":
        del kept["format"]
    if "properties" in kept:
        kept["properties"] = {k: _without_detail(v) for k, v in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _without_detail(kept["items"])
        kept["items"].pop("maxLength", None)
    if "anyOf" in kept:
        kept["anyOf"] = [_without_detail(option) for option in kept["anyOf"]]
    return kept


def output_schema(model: type[BaseModel]) -> Schema:
    """What a tool answers, with every shape in its place: some clients follow no references.

    Every field is always there, so that none is listed as required: it would be named twice.
    """
    schema = _lean(model.model_json_schema(mode="serialization"))
    return {"type": "object", **_short(schema, depth=DEPTH)}


DEPTH = 2
"""How deep an answer's schema names fields: its own, and those of the rows in its lists."""

_SPARED = ("required", "format", "additionalProperties")
"""Parts of an output schema that a model does not need to read an answer."""


def _short(schema: Schema, *, depth: int) -> Schema:
    """An answer's schema without what its reader can do without; what it says stays true."""
    if "const" in schema:
        return {"const": schema["const"]}
    short = {name: value for name, value in schema.items() if name not in _SPARED}
    if options := short.pop("anyOf", None):
        short["anyOf"] = [_short(option, depth=depth) for option in options]
    fields, items = short.pop("properties", {}), short.pop("items", {})
    if fields and depth:
        short["properties"] = {k: _short(v, depth=depth - 1) for k, v in fields.items()}
    if items and depth:
        short["items"] = _short(items, depth=depth)
    return short


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
