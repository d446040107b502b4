"""How changes are written on a page."""

from django import template
from django.urls import reverse

from knowledge.models import Change, ChangeKind
from knowledge.undo.own_changes import Action

register = template.Library()

_SAID = {
    ChangeKind.ITEM_ADDED: "Added",
    ChangeKind.ITEM_CHANGED: "Changed",
    ChangeKind.ITEM_REWRITTEN: "Rewritten",
    ChangeKind.ITEM_DELETED: "Deleted",
    ChangeKind.ITEM_FILED: "Filed",
    ChangeKind.ITEM_UNFILED: "Taken out of a folder",
    ChangeKind.FOLDER_CREATED: "Folder made",
    ChangeKind.FOLDER_RENAMED: "Folder renamed",
    ChangeKind.FOLDER_DELETED: "Folder deleted",
    ChangeKind.WEBHOOK_CREATED: "Webhook made",
    ChangeKind.WEBHOOK_CHANGED: "Webhook changed",
    ChangeKind.WEBHOOK_DELETED: "Webhook deleted",
    ChangeKind.ROW_ADDED: "added",
    ChangeKind.ROW_CHANGED: "changed",
    ChangeKind.ROW_DELETED: "deleted",
}
_MODELS = {"savedsearch": "saved search", "sourcepage": "page"}
_FIELDS = {
    "custom_title": "Renamed",
    "tags": "Tags changed",
    "type": "Type changed",
    "visibility": "Sharing changed",
    "attributes": "Details changed",
}


@register.filter
def done_in_words(action: Action) -> str:
    """What an action did, each sort of change once."""
    said = dict.fromkeys(_word(change) for change in action.newest)
    if action.others:
        shown = {change.kind for change in action.newest}
        more = [kind for kind in action.kinds if kind not in shown and not kind.startswith("row_")]
        said |= dict.fromkeys(_SAID[ChangeKind(kind)] for kind in more)
    return ", ".join(said)


@register.filter
def place_of(change: Change) -> str:
    """Where the changed thing is, if it is still there."""
    if getattr(change, "is_item_there", False):
        return reverse("console:item", args=[change.target])
    is_folder = change.kind in (ChangeKind.FOLDER_CREATED, ChangeKind.FOLDER_RENAMED)
    if is_folder and change.undone_at is None:
        return f"/?folder={change.target}"
    return ""


def _word(change: Change) -> str:
    kind = ChangeKind(change.kind)
    if kind == ChangeKind.ITEM_CHANGED:
        return ", ".join(_field_word(name, value) for name, value in change.after.items())
    if kind in (ChangeKind.ROW_ADDED, ChangeKind.ROW_CHANGED, ChangeKind.ROW_DELETED):
        model = getattr(change, "model", "").rpartition(".")[2]
        return f"{_MODELS.get(model, model).capitalize()} {_SAID[kind]}"
    return _SAID[kind]


def _field_word(name: str, value: object) -> str:
    if name == "archived":
        return "Archived" if value else "Back from the archive"
    if name == "in_kb":
        return "Made searchable" if value else "Hidden from search"
    return _FIELDS.get(name, "Changed")
