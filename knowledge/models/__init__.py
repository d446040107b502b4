from knowledge.models.allowance import Allowance, Reservation, ReservationState, Tier
from knowledge.models.change import Change, ChangeKind
from knowledge.models.chunk import Chunk, ChunkEmbedding, ChunkText, Generation
from knowledge.models.content import Content, ContentState, Link, Step, TranscriptionStatus
from knowledge.models.folder import Folder
from knowledge.models.idempotency import IdempotencyRecord
from knowledge.models.item import Filing, IndexStatus, Item, ItemType, Visibility
from knowledge.models.job import Job
from knowledge.models.library_size import LibrarySize
from knowledge.models.schedule import Schedule
from knowledge.models.transform import Transform, TransformState
from knowledge.models.upload import Upload, UploadState
from knowledge.models.usage import Usage
from knowledge.models.webhook import Delivery, DeliveryState, Webhook, WebhookEvent

__all__ = [
    "Allowance",
    "Change",
    "ChangeKind",
    "Chunk",
    "ChunkEmbedding",
    "ChunkText",
    "Content",
    "ContentState",
    "Delivery",
    "DeliveryState",
    "Filing",
    "Folder",
    "Generation",
    "IdempotencyRecord",
    "IndexStatus",
    "Item",
    "ItemType",
    "Job",
    "LibrarySize",
    "Link",
    "Reservation",
    "ReservationState",
    "Schedule",
    "Step",
    "Tier",
    "TranscriptionStatus",
    "Transform",
    "TransformState",
    "Upload",
    "UploadState",
    "Usage",
    "Visibility",
    "Webhook",
    "WebhookEvent",
]
