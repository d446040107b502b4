"""Bookmarks as every browser exports them, and Pocket's page of links: HTML with folders."""

from html.parser import HTMLParser

from knowledge.imports.formats.rows import LONGEST_NOTE, Export, moment_of, split_tags

MOST_NESTED = 20
_SEPARATOR = " / "


def read_bookmarks(text: str) -> Export:
    """The links of the page, each with the folders that it stands in."""
    is_pocket = "<title>pocket export" in text[:2000].lower()
    reader = _Reader(Export("pocket" if is_pocket else "bookmarks"))
    reader.feed(text)
    reader.close()
    reader.finish_link()
    return reader.export


class _Reader(HTMLParser):
    """Follows `<DT><H3>folder</H3><DL>…<A HREF>title</A><DD>note`, closed or not."""

    def __init__(self, export: Export) -> None:
        super().__init__(convert_charrefs=True)
        self.export = export
        self.folders: list[str] = []
        self.heading = ""
        self.collects: str | None = None
        self.words = ""
        self.link: dict[str, str] | None = None
        self.note = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.finish_link()
            self.link = {name: value or "" for name, value in attrs}
            self._collect("title")
        elif tag in ("h3", "dd"):
            self._collect("note" if tag == "dd" else "heading")
            if tag == "h3":
                self.finish_link()
                self.collects = "heading"
        elif tag == "dl":
            self.finish_link()
            if len(self.folders) < MOST_NESTED:
                self.folders.append(self.heading)
            self.heading = ""
        elif tag in ("dt", "li"):
            self.finish_link()

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self.link is not None:
            self.link["title"] = " ".join(self.words.split())
            self.collects = None
        elif tag == "h3":
            self.heading = " ".join(self.words.split())
            self.collects = None
        elif tag == "dl":
            self.finish_link()
            if self.folders:
                self.folders.pop()

    def handle_data(self, data: str) -> None:
        if self.collects == "note":
            self.note = (self.note + data)[:LONGEST_NOTE]
        elif self.collects and len(self.words) < 1_000:
            self.words += data

    def finish_link(self) -> None:
        """The link that was begun, with all that was said of it."""
        link, note = self.link, self.note.strip()
        self.link, self.note, self.collects = None, "", None
        if link is None or link.get("href", "").lower().startswith("place:"):
            return  # the last are searches that Firefox keeps among its bookmarks
        self.export.add_link(
            link.get("href", ""),
            title=link.get("title", ""),
            tags=split_tags(link.get("tags", ""), ",|"),
            folder=_SEPARATOR.join(name for name in self.folders if name),
            saved_at=moment_of(link.get("add_date") or link.get("time_added") or ""),
            note=note,
        )

    def _collect(self, what: str) -> None:
        self.collects, self.words = what, ""
