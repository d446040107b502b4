"""Skills and knowledge units: how they are written, contributed, found and read."""
