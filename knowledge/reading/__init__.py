"""What a person does while reading: highlights, notes, how far they are, searches to keep."""
