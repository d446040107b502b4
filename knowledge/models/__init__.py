from knowledge.models.allowance import Allowance, Reservation, ReservationState, Tier
from knowledge.models.archive_import import ArchiveImport, ArchiveState
from knowledge.models.arrival import Arrival, ArrivalState
from knowledge.models.change import Change, ChangeKind
from knowledge.models.chunk import (
    Chunk,
    ChunkEmbedding,
    ChunkText,
    Generation,
    WordPostings,
    WordSegment,
)
from knowledge.models.content import Content, ContentState, Link, Step, TranscriptionStatus
from knowledge.models.contributions import (
    Agent,
    AllowedFinding,
    HeldBack,
    Provider,
    Quality,
    Quarantine,
    QuarantineReason,
    Validation,
    Verdict,
    Version,
)
from knowledge.models.documentation import CrawlState, PageState, Source, SourcePage
from knowledge.models.export import Export, ExportState
from knowledge.models.feed import Feed, FeedEntry, FeedState
from knowledge.models.folder import Folder
from knowledge.models.idempotency import IdempotencyRecord
from knowledge.models.import_batch import BatchState, ImportBatch, ImportRow, RowKind
from knowledge.models.item import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    UNIT_TYPES,
    Filing,
    IndexStatus,
    Item,
    ItemType,
    Visibility,
)
from knowledge.models.job import Job
from knowledge.models.kinds import Contribution, Memory
from knowledge.models.library_size import LibrarySize
from knowledge.models.reading import Colour, Highlight, ReadingProgress, SavedSearch
from knowledge.models.relation import Relation, RelationType
from knowledge.models.schedule import Schedule
from knowledge.models.transform import Transform, TransformState
from knowledge.models.upload import Upload, UploadState
from knowledge.models.usage import Usage
from knowledge.models.webhook import Delivery, DeliveryState, Webhook, WebhookEvent

__all__ = [
    "MEMORY_TYPES",
    "REGISTRY_TYPES",
    "UNIT_TYPES",
    "Agent",
    "Allowance",
    "AllowedFinding",
    "ArchiveImport",
    "ArchiveState",
    "Arrival",
    "ArrivalState",
    "BatchState",
    "Change",
    "ChangeKind",
    "Chunk",
    "ChunkEmbedding",
    "ChunkText",
    "Colour",
    "Content",
    "ContentState",
    "Contribution",
    "CrawlState",
    "Delivery",
    "DeliveryState",
    "Export",
    "ExportState",
    "Feed",
    "FeedEntry",
    "FeedState",
    "Filing",
    "Folder",
    "Generation",
    "HeldBack",
    "Highlight",
    "IdempotencyRecord",
    "ImportBatch",
    "ImportRow",
    "IndexStatus",
    "Item",
    "ItemType",
    "Job",
    "LibrarySize",
    "Link",
    "Memory",
    "PageState",
    "Provider",
    "Quality",
    "Quarantine",
    "QuarantineReason",
    "ReadingProgress",
    "Relation",
    "RelationType",
    "Reservation",
    "ReservationState",
    "RowKind",
    "SavedSearch",
    "Schedule",
    "Source",
    "SourcePage",
    "Step",
    "Tier",
    "TranscriptionStatus",
    "Transform",
    "TransformState",
    "Upload",
    "UploadState",
    "Usage",
    "Validation",
    "Verdict",
    "Version",
    "Visibility",
    "Webhook",
    "WebhookEvent",
    "WordPostings",
    "WordSegment",
]
