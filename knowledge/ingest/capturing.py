"""Adding a page as a person sees it, signed in or not: what their own browser sends."""

from typing import Unpack

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import IngestFailed, InvalidInput
from knowledge.indexing.preparing import prepare_content
from knowledge.ingest.adding import MAX_URL, AddedItem, AddOptions, check_options
from knowledge.ingest.contents import set_text
from knowledge.ingest.items import create_item
from knowledge.models import Content, Item
from knowledge.sources import canonical, webpage
from knowledge.sources.addresses import read_url
from knowledge.validation import clean_text

MAX_HTML = 5_000_000
"""Characters; a page is sent whole, with its scripts and styles."""


def add_captured_page(
    access: Access, *, url: str, html: str, **given: Unpack[AddOptions]
) -> AddedItem:
    """Add a page that the caller's browser shows; it is the caller's alone, and never shared.

    The same page with the same text is added once.
    """
    access.require(Capability.WRITE)
    options = check_options(access, **given)
    url = _clean_url(url)
    html = clean_text(html.replace("\x00", " "), field="html", shortest=1, longest=MAX_HTML)
    extracted = webpage.read_page(html.encode(), url=url, charset="utf-8")
    content = Content(owner_id=access.owner_id, kind="webpage", url=url)
    set_text(content, extracted)
    content.title = options.title or content.title
    if there := _captured_before(access, content):
        return AddedItem.of(access, there, options.folder_id)
    prepared = prepare_content(content, content.title) if options.in_kb else None
    with transaction.atomic():
        content.save()
        item = create_item(access, content, options, prepared)
    return AddedItem.of(access, item, options.folder_id)


def _clean_url(url: str) -> str:
    url = clean_text(url, field="url", shortest=1, longest=MAX_URL).strip()
    try:
        return canonical.address_for_people(read_url(url.partition("#")[0]).url)
    except IngestFailed as error:
        raise InvalidInput(error.message, field="url") from None


def _captured_before(access: Access, content: Content) -> Item | None:
    own = Item.objects.visible_to(access).filter(
        content__owner=access.owner_id, content__url=content.url, content__text=content.text
    )
    return own.first()
