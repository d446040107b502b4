from unittest.mock import patch

from knowledge.indexing import packing


def pack(owner_id: int, *, most: int = packing.SEGMENT_CHUNKS) -> int:
    """Pack some of a library's fresh chunks at once, however few they are."""
    with patch.object(packing, "SEGMENT_CHUNKS", most):
        return packing._pack(owner_id, fewest=1) if most else 0
