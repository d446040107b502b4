"""The undo of each kind of change."""

from knowledge.models import Change, ChangeKind
from knowledge.undo.base import Undo
from knowledge.undo.folders import RemoveCreatedFolder, RenameFolderBack, RestoreFolder
from knowledge.undo.items import (
    FileItemAgain,
    RemoveAddedItem,
    RestoreItem,
    SetItemBack,
    TakeItemOut,
    WriteItemBack,
)
from knowledge.undo.rows import (
    RemoveAddedRow,
    RemoveCreatedWebhook,
    RestoreRow,
    RestoreWebhook,
    SetRowBack,
    SetWebhookBack,
)

UNDOS: dict[ChangeKind, type[Undo]] = {
    ChangeKind.ITEM_ADDED: RemoveAddedItem,
    ChangeKind.ITEM_CHANGED: SetItemBack,
    ChangeKind.ITEM_REWRITTEN: WriteItemBack,
    ChangeKind.ITEM_DELETED: RestoreItem,
    ChangeKind.ITEM_FILED: TakeItemOut,
    ChangeKind.ITEM_UNFILED: FileItemAgain,
    ChangeKind.FOLDER_CREATED: RemoveCreatedFolder,
    ChangeKind.FOLDER_RENAMED: RenameFolderBack,
    ChangeKind.FOLDER_DELETED: RestoreFolder,
    ChangeKind.WEBHOOK_CREATED: RemoveCreatedWebhook,
    ChangeKind.WEBHOOK_CHANGED: SetWebhookBack,
    ChangeKind.WEBHOOK_DELETED: RestoreWebhook,
    ChangeKind.ROW_ADDED: RemoveAddedRow,
    ChangeKind.ROW_CHANGED: SetRowBack,
    ChangeKind.ROW_DELETED: RestoreRow,
}


def undo_of(change: Change) -> Undo:
    return UNDOS[ChangeKind(change.kind)](change)
