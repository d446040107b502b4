"""Headings of chunks that are hard to write into an array."""

HEADINGS: list[tuple[str, ...]] = [
    (),
    ("Plain",),
    ("", "NULL", "null"),
    ('"quoted"', "back\\slash", "{brace}", "comma, comma"),
    ("tab\there", "new\nline", "\\N", "私は学生です", "🙂 é", "x" * 5_000),
]
