from knowledge.models.chunk import Chunk, ChunkEmbedding, ChunkText, Generation
from knowledge.models.content import Content, TranscriptionStatus
from knowledge.models.folder import Folder
from knowledge.models.item import Filing, IndexStatus, Item, ItemType, Visibility
from knowledge.models.job import Job
from knowledge.models.library_size import LibrarySize
from knowledge.models.usage import Usage

__all__ = [
    "Chunk",
    "ChunkEmbedding",
    "ChunkText",
    "Content",
    "Filing",
    "Folder",
    "Generation",
    "IndexStatus",
    "Item",
    "ItemType",
    "Job",
    "LibrarySize",
    "TranscriptionStatus",
    "Usage",
    "Visibility",
]
