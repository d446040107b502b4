"""Completions: what a person may be about to type, among what their token sees."""

from collections.abc import Iterable

from mcp_types import CompleteRequestParams, Completion, PromptReference

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.errors import InvalidInput
from knowledge.ingest.items import MAX_TITLE
from knowledge.library import items as library
from knowledge.library.items import MAX_FOLDER_NAME
from knowledge.validation import clean_text
from mcp_gateway.printing import printable
from mcp_gateway.prompts import prompt_named
from mcp_gateway.resources import FOLDERS, ITEM_TEMPLATE

MOST = 100


def ask_of(params: CompleteRequestParams) -> Ask:
    """The ask that a completion counts as."""
    return Ask.LIST_FOLDERS if isinstance(params.ref, PromptReference) else Ask.LIST_ITEMS


def complete(access: Access, params: CompleteRequestParams) -> Completion:
    """Values that the argument may take, the likeliest first."""
    name, value = params.argument.name, params.argument.value.strip()
    if isinstance(params.ref, PromptReference):
        _require_argument(name, prompt_named(params.ref.name).argument_names)
        return _folders(access, value) if name == "folder" else _of([])
    if params.ref.uri == FOLDERS:
        return _of([])
    if params.ref.uri != ITEM_TEMPLATE:
        told = f"There is no template {printable(params.ref.uri)}; there is {ITEM_TEMPLATE}."
        raise InvalidInput(told, field="ref")
    _require_argument(name, ["id"])
    return _items(access, value)


def _require_argument(name: str, known: list[str]) -> None:
    if name not in known:
        raise InvalidInput(
            f"There is no argument {printable(name)}; there are: {', '.join(known)}.",
            field="argument",
        )


def _items(access: Access, title: str) -> Completion:
    """Ids, which the template takes, of the items whose title begins so."""
    if title:
        clean_text(title, field="argument", shortest=0, longest=MAX_TITLE)
    found = library.items_titled(access, title, limit=MOST)
    return _of([str(item.pk) for item in found.items], has_more=found.has_more)


def _folders(access: Access, name: str) -> Completion:
    if name:
        clean_text(name, field="argument", shortest=0, longest=MAX_FOLDER_NAME)
    names = [folder.name for folder in library.list_folders(access)]
    begun = [each for each in names if each.casefold().startswith(name.casefold())]
    return _of(begun[:MOST], has_more=len(begun) > MOST)


def _of(values: Iterable[str], *, has_more: bool = False) -> Completion:
    return Completion(values=list(values), has_more=has_more)
