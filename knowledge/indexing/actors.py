"""Jobs of the index: words are packed in the background."""

import dramatiq

from knowledge.indexing import packing
from knowledge.jobs.actors import HOUR, MAX_RETRIES
from knowledge.jobs.fairness import send_job
from knowledge.jobs.scheduling import every


@dramatiq.actor(max_retries=MAX_RETRIES, min_backoff=2_000, time_limit=HOUR)
def pack_library(owner_id: int) -> None:
    """Pack the fresh words of a library."""
    for _ in packing.pack_library(owner_id):
        pass


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_words() -> None:
    """Pack what a lost job left, and drop the words of deleted chunks."""
    for owner_id in packing.libraries_to_pack():
        send_job(pack_library, owner_id, owner_id=owner_id)
    for owner_id, segment_ids in packing.decayed_segments().items():
        packing.pack_again(owner_id, segment_ids)


def pack_soon(owner_id: int, *, fresh: int, added: int) -> None:
    """Send the job whenever another lot of fresh chunks is full, in the caller's transaction."""
    if fresh // packing.FRESH_CHUNKS > (fresh - added) // packing.FRESH_CHUNKS:
        send_job(pack_library, owner_id, owner_id=owner_id)
