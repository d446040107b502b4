"""Everything a client can ask for: the one table that both edges, limits and the record read."""

from enum import Enum, StrEnum
from typing import Self

from knowledge.access import Capability


class Effect(Enum):
    """What an ask does to a library."""

    READS = "reads"
    WRITES = "writes"
    ADDS = "adds"
    """Writes something new; a call that is refused is given back to its caller's limit."""


READS, WRITES, ADDS = Effect


class Ask(StrEnum):
    """What a client can ask for: its name, its effect, its calls an hour, what it is about.

    What it is about are the names of identifiers: the first that the call names, or else its
    answer, goes into the record. An ask about no one thing has none.
    """

    SEARCH = "search", READS, 1000
    GET_ITEM = "get_item", READS, 1000, "item_id", "id"
    LIST_RECENT = "list_recent", READS, 1000
    LIST_ITEMS = "list_items", READS, 1000
    ADD = "add", ADDS, 60, "user_item_id"
    UPDATE_ITEM = "update_item", WRITES, 60, "item_id"
    DELETE_ITEM = "delete_item", WRITES, 30, "item_id"
    FILE_ITEM = "file_item", WRITES, 60, "item_id"
    LIST_FOLDERS = "list_folders", READS, 1000
    CREATE_FOLDER = "create_folder", WRITES, 60, "id"
    UPDATE_FOLDER = "update_folder", WRITES, 60, "folder_id"
    DELETE_FOLDER = "delete_folder", WRITES, 30, "folder_id"
    BEGIN_UPLOAD = "begin_upload", ADDS, 30, "upload_id"
    FINISH_UPLOAD = "finish_upload", ADDS, 30, "user_item_id"
    RETRY = "retry", WRITES, 60, "item_id"
    TRANSFORM = "transform", WRITES, 60, "item_id"
    WEBHOOKS = "webhooks", WRITES, 60, "webhook_id", "id"
    EXPORT = "export", READS, 10, "id"
    EXPORTS = "exports", READS, 1000, "export_id"
    IMPORT = "import", WRITES, 10, "import_id", "id"
    IMPORTS = "imports", READS, 1000, "import_id"
    CANCEL_IMPORT = "cancel_import", WRITES, 60, "import_id"
    WHOAMI = "whoami", READS, 1000
    ACTIVITY = "activity", READS, 1000
    USAGE = "usage", READS, 1000
    EXPLORE = "explore", READS, 1000, "item_id", "entity_id"
    CONTEXT = "context", READS, 1000
    REMEMBER = "remember", ADDS, 300, "id"
    MANAGE_TASK = "manage_task", WRITES, 300, "task_id", "entity_id"
    RELATE = "relate", WRITES, 300, "item_id", "relation_id"
    SOURCES = "sources", READS, 1000, "source_id"
    CRAWL = "crawl", WRITES, 30, "source_id", "id"
    REGISTRY = "registry", READS, 1000, "item_id"
    CONTRIBUTE = "contribute", ADDS, 60, "id"
    VALIDATE = "validate", WRITES, 300, "item_id", "unit_id"
    REPUTATION = "reputation", READS, 1000
    PROVIDERS = "providers", READS, 1000, "provider_id"
    REGISTER_PROVIDER = "register_provider", WRITES, 60, "provider_id", "id"

    effect: Effect
    per_hour: int
    about: tuple[str, ...]

    def __new__(cls, name: str, effect: Effect, per_hour: int, *about: str) -> Self:
        ask = str.__new__(cls, name)
        ask._value_ = name
        ask.effect, ask.per_hour, ask.about = effect, per_hour, about
        return ask

    @property
    def is_addition(self) -> bool:
        return self.effect is ADDS

    @property
    def needs(self) -> Capability:
        """What a token must have to ask for it."""
        return Capability.READ if self.effect is READS else Capability.WRITE
