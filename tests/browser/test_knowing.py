"""Ask, memory, registry, connections, settings and marks in a real browser: one walk by keyboard,
with hostile words everywhere, of which none runs.
"""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import ConsoleMessage, Dialog, Page, expect

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.memory.relations import relate
from knowledge.memory.remembering import add as remember
from knowledge.models import Highlight, Item
from knowledge.reading.progress import progress_of
from knowledge.reading.saved_searches import save_search
from knowledge.registry.contributing import contribute_skill
from tests.support.admin import HOSTILE, furnish
from tests.support.console_pages import console_pages
from tokens.minting import TokenRequest, mint_token

pytestmark = pytest.mark.django_db(transaction=True)

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SKILL = f"""---
name: hostile
description: "Measures granite. {MARKUP}"
tags: ["<svg onload=alert(3)>"]
---
# {MARKUP}

[Strike](javascript:alert(4)) the granite, and listen to how it rings.
"""


@pytest.fixture
def item(signed_in: Page) -> Item:
    admin = User.objects.get(username="admin")
    library = Access.whole_library(admin.pk)
    paragraphs = "\n\n".join(f"Paragraph {number} is about slate." for number in range(60))
    text = f"Granite is the **hardest** stone of the coast.\n\n{MARKUP}\n\n{paragraphs}"
    item = add_text(library, title=f"Stones {MARKUP}", text=text, tags=[MARKUP[:90]])
    project = remember(library, title=MARKUP, content="Work.", entity_type="project").item
    title = f"Measure {MARKUP}"
    remember(library, title=title, content="Now.", entity_type="task", project=project.pk)
    relate(library, item.pk, project.pk)
    contribute_skill(library, skill_md_content=SKILL, visibility="private")
    save_search(library, MARKUP, "q=granite")
    mint_token(admin, TokenRequest(name=MARKUP, folder_ids=None))
    return item


@pytest.fixture
def troubles(signed_in: Page) -> list[str]:
    """Everything that a page should never do."""
    found: list[str] = []

    def refuse(dialog: Dialog) -> None:
        found.append(f"{signed_in.url}: {dialog.message}")
        dialog.dismiss()

    def note(said: ConsoleMessage) -> None:
        if said.type == "error":
            found.append(f"{signed_in.url}: {said.text}")

    signed_in.on("dialog", refuse)
    signed_in.on("console", note)
    signed_in.on("pageerror", lambda error: found.append(f"{signed_in.url}: {error}"))
    return found


def test_every_page_holds_hostile_words_within_its_width(
    signed_in: Page, item: Item, troubles: list[str]
) -> None:
    """Each page of the console, wide and light, narrow and dark: nothing runs or sticks out."""
    page, admin = signed_in, User.objects.get(username="admin")
    furnish(admin, HOSTILE)
    browser = Client()
    browser.force_login(admin)
    pages = console_pages(admin, browser)
    assert len(pages) > 30
    for width, theme in ((1440, "light"), (390, "dark")):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 844})
        for address in pages:
            page.goto(address, wait_until="domcontentloaded")
            taken = page.evaluate("document.documentElement.scrollWidth")
            assert taken <= width, (address, taken)
    # The server of this test has no /events, and one address is of nothing.
    ours = [each for each in troubles if "status of 404" not in each]
    assert [each for each in ours if not each.endswith("Event]")] == []


def test_a_reader_asks_marks_notes_and_moves_a_task_without_a_mouse(
    signed_in: Page, item: Item, troubles: list[str]
) -> None:
    page, keys = signed_in, signed_in.keyboard
    page.goto("/ask/")
    keys.type("Which stone of the coast is the hardest?")
    keys.press("Tab")
    keys.press("Enter")
    cite = page.locator(".answer:not([aria-busy]) .cite").first  # of the whole, not of a draft
    expect(cite).to_be_visible()
    cite.focus()
    keys.press("Enter")
    page.wait_for_url(f"**/items/{item.pk}?at=*")
    expect(page.locator("[data-reading] mark, [data-reading] .marked").first).to_be_visible()

    keys.press("h")
    mark = page.locator("#marks-list [data-span]").first
    expect(mark).to_contain_text("Granite is the hardest stone of the coast.")
    assert page.evaluate("CSS.highlights.get('mark-yellow').size") == 1
    keys.press("n")
    expect(page.locator("#note-dialog")).to_be_visible()
    keys.type(f"A note. {MARKUP}")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#marks-list .note")).to_contain_text("A note.")
    keys.press("z")
    expect(page.locator("#toasts")).to_contain_text("ndone")
    keys.press("End")
    with page.expect_response("**/progress") as sent:
        pass
    assert sent.value.status == 204
    library = Access.whole_library(item.owner_id)
    assert progress_of(library, [item.pk])[item.pk] > 0.9
    assert Highlight.objects.count() == 1

    page.goto("/memory/board")
    page.get_by_role("button", name="to todo").focus()
    keys.press("Enter")
    expect(page.locator("section:has(#column-todo) li").first).to_contain_text("Measure")
    assert troubles == []


def test_a_secret_leaves_with_its_page(signed_in: Page, item: Item, troubles: list[str]) -> None:
    page = signed_in
    page.goto("/connections/new")
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Create token").press("Enter")
    expect(page.locator("#secret")).to_contain_text("qry_")
    page.get_by_role("link", name="Done").click()
    page.go_back()
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#secret")).to_have_count(0)
    assert troubles == []
