"""Which operations follow from an answer, as the OpenAPI document links them."""

from typing import Any

_OF_ITEM = ("get_item", "update_item", "retry_item", "transform_item", "file_item", "delete_item")
_OF_MEMORY = (*_OF_ITEM, "relate_items", "list_relations")
_OF_FOLDER = ("rename_folder", "delete_folder")
_OF_SOURCE = ("get_source", "update_source", "crawl_source", "list_source_pages", "delete_source")

_OF_SKILL = ("get_skill", "list_skill_versions", "get_skill_archive", "update_item", "delete_item")
_OF_UNIT = ("get_knowledge", "list_knowledge_versions", "update_item", "delete_item")

# operation: (status, where the id stands in its answer, the parameter, the operations it leads to)
_FOLLOWING: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "ingest": ("201", "/user_item_id", "item_id", _OF_ITEM),
    "finish_upload": ("201", "/user_item_id", "item_id", _OF_ITEM),
    "finish_document_upload": ("201", "/user_item_id", "item_id", _OF_ITEM),
    "remember": ("201", "/id", "item_id", _OF_MEMORY),
    "relate_items": ("201", "/id", "relation_id", ("end_relation",)),
    "contribute_skill": ("201", "/id", "item_id", _OF_SKILL),
    "contribute_knowledge": ("201", "/id", "item_id", _OF_UNIT),
    "create_folder": ("201", "/id", "folder_id", _OF_FOLDER),
    "add_source": ("201", "/id", "source_id", _OF_SOURCE),
    "start_export": ("202", "/id", "export_id", ("get_export",)),
    "create_webhook": ("201", "/id", "webhook_id", ("delete_webhook",)),
    "import_library": ("202", "/id", "import_id", ("get_import", "cancel_import")),
    "mint_token": ("201", "/id", "token_id", ("revoke_token",)),
}


def link(operation: dict[str, Any]) -> None:
    """Say in an operation's answer what can be asked about what it names."""
    if operation["operationId"] not in _FOLLOWING:
        return
    status, pointer, parameter, leads_to = _FOLLOWING[operation["operationId"]]
    operation["responses"][status]["links"] = {
        name: {"operationId": name, "parameters": {parameter: f"$response.body#{pointer}"}}
        for name in leads_to
    }
