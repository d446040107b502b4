"""Errors in the words of the pages: a person never reads the name of an argument or of a route."""

from collections.abc import Container

from django import forms

from knowledge.errors import ForbiddenBinary, InvalidId, OutOfScope, QuarryError

NAMES = {
    "content": "What to remember",
    "custom_title": "The title",
    "due_date": "The date",
    "entity_type": "The type",
    "exclude": "“Leave out”",
    "filename": "The name of the file",
    "folder": "The folder",
    "folder_id": "The folder",
    "folder_ids": "The folders",
    "include": "“Only pages”",
    "max_pages": "“Most pages”",
    "name": "The name",
    "note": "The note",
    "q": "The search",
    "query": "The search",
    "question": "The question",
    "quote": "The passage",
    "skill_md_content": "The text",
    "start_url": "The address",
    "tags": "A tag",
    "text": "The text",
    "title": "The title",
    "unit": "The text",
    "url": "The address",
}
OTHER_NAMES = {
    "folder_ids": ("folder", "new_folder"),
    "folder_id": ("folder",),
    "name": ("new_folder",),
    "query": ("q",),
}
"""What forms call an argument otherwise."""

_WHOLE = {
    "folder_ids must name at least one folder.": "Choose a folder, or name a new one.",
    "size must be that of the file in bytes, at least 1.": "The file is empty.",
    "tags may be at most 50.": "There can be at most 50 tags.",
}
_MADE_BY_THE_PAGE = (" must be a UUID.", " must be 0 or 1.", " must be a string.", " a number.")
_RELOAD = "The page sent something that is not understood. Load it again, and try once more."
_WORDS = {
    ", or it is out of this token's reach": "",
    "are in errors": "are listed below",
    "must not contain NUL characters": "has characters that cannot be stored",
}


def for_people(error: QuarryError, *, name: str = "") -> str:
    """One sentence about an error, by the name that the page has for the field."""
    field = str(error.details.get("field") or "")
    if error.message in _WHOLE:
        return _WHOLE[error.message]
    if isinstance(error, OutOfScope):
        return "One of the folders is not there any more. Load the page again, and choose anew."
    if isinstance(error, ForbiddenBinary):
        return "An encoded file is not taken as a text. Add the file itself."
    if isinstance(error, InvalidId) or error.message.endswith(_MADE_BY_THE_PAGE):
        return _RELOAD
    said = NAMES.get(field) or name or field.replace("_", " ").capitalize()
    message = error.message
    if field and message.startswith(f"{field} "):
        message = _about(said, message.removeprefix(field), error)
    message = message.replace(f"Each of {field} ", f"Each pattern of {said} ")
    for ours, theirs in _WORDS.items():
        message = message.replace(ours, theirs)
    return message


def field_among(fields: Container[str], error: QuarryError) -> str:
    """Which of these fields the error is about, or none."""
    asked = str(error.details.get("field") or "")
    return next((each for each in (asked, *OTHER_NAMES.get(asked, ())) if each in fields), "")


def add_problem(form: forms.Form, error: QuarryError, *, otherwise: str | None = None) -> None:
    """Put an error at the field of a form that it is about, or else at this one."""
    field = field_among(form.fields, error) or otherwise or ""
    name = str(form.fields[field].label or "") if field else ""
    form.add_error(field or None, for_people(error, name=name and f"“{name}”"))


def _about(said: str, rule: str, error: QuarryError) -> str:
    longest = error.details.get("max_length")
    if rule.strip() == "must not be blank." or (longest and rule.endswith("it has 0.")):
        return f"{said} must not be empty."
    if longest and error.details.get("min_length") in (0, 1):
        return f"{said} can have at most {longest:,} characters;{rule.rpartition(';')[2]}"
    return f"{said}{rule}"
