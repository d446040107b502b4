"""The console in a real browser: by keyboard alone, on a phone, and full of hostile words."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Dialog, Page, expect

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import create_folder, file_item
from knowledge.models import Item

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)><svg onload=alert(1)>"
NOTE = """# Etna

Etna rests for years. The next explosion comes when the chamber is full.

```python
print("lava")
```
"""
CHAPTERS = "\n\n".join(f"Chapter {number}. " + "Granite is patient. " * 60 for number in range(60))
SHIFTS = """() => new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(sum), 300);
})"""
BYTES = """() => performance.getEntries()
    .filter((entry) => ["navigation", "resource"].includes(entry.entryType))
    .filter((entry) => !/\\/(media|pages)/.test(entry.name))
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""
VIOLATIONS = """() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
}"""


@pytest.fixture
def access(signed_in: Page) -> Access:
    """The library of the person who is signed in, with a few items of every sort."""
    access = Access.whole_library(User.objects.get(username="admin").pk)
    folder = create_folder(access, f"Notes {HOSTILE}")
    for number in range(45):
        text = f"Stone number {number} is grey and old."
        add_text(access, title=f"Stone {number}", text=text, in_kb=False)
    add_text(access, title="Book", text=CHAPTERS)
    hostile = add_text(access, title=HOSTILE, text=f"{HOSTILE} [a](javascript:alert(1)) lava")
    update_item(access, hostile.pk, ItemChanges(tags=[HOSTILE]))
    etna = add_text(access, title="Field notes", text=NOTE)
    file_item(access, etna.pk, [folder.pk])
    return access


def test_a_person_finds_opens_and_files_by_keyboard_alone(signed_in: Page, access: Access) -> None:
    page = signed_in
    page.goto("/")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("next explosion", delay=15)
    expect(page.locator(".found mark").first).to_be_visible()
    page.wait_for_url("**/?q=next+explosion")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-open]").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/*#char=*")
    expect(page.get_by_role("heading", name="Field notes")).to_be_visible()
    assert "next explosion" in page.evaluate(
        "[...document.querySelectorAll('.marked')].map((each) => each.textContent).join()"
    )
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.wait_for_url("**/")

    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_text("1 item archived.")).to_be_visible()
    expect(page.locator("[data-open]").first).to_be_focused()
    expect(page.locator("[data-open]").first).not_to_have_text("Field notes")
    page.keyboard.press("z")
    expect(page.get_by_text("Undone.")).to_be_visible()
    expect(page.locator("[data-open]").first).to_have_text("Field notes")

    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator("#bulk-tags")).to_be_focused()
    page.keyboard.type("volcano, to read")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 items tagged.")).to_be_visible()
    assert Item.objects.filter(tags__contains=["to read"]).count() == 2
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    no_slower_answer_replaces_a_later_one(page)


def no_slower_answer_replaces_a_later_one(page: Page) -> None:
    page.goto("/")

    def delay_first(route: Any) -> None:
        if route.request.url.endswith("q=lav") or "q=lav&" in route.request.url:
            page.wait_for_timeout(800)
        route.continue_()

    page.route("**/?q=*", delay_first)
    page.locator("#q").press_sequentially("lav")
    page.wait_for_timeout(150)
    page.locator("#q").press_sequentially("a")
    page.wait_for_url("**/?q=lava")
    page.wait_for_timeout(1000)
    assert page.url.endswith("/?q=lava")


def test_pages_are_light_and_still_and_run_nothing_hostile(signed_in: Page, access: Access) -> None:
    pages_are_light_and_nothing_moves(signed_in)
    every_place_of_a_long_text_is_reached(signed_in)
    hostile_words_run_nothing(signed_in)


def pages_are_light_and_nothing_moves(page: Page) -> None:
    book = Item.objects.get(content__title="Book")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for address in ("/", "/?q=granite", "/folders/", f"/items/{book.pk}"):
            page.goto(address)
            assert page.evaluate(SHIFTS) < 0.01, address
            assert 40_000 < page.evaluate(BYTES) < 150_000, address
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def every_place_of_a_long_text_is_reached(page: Page) -> None:
    book = Item.objects.get(content__title="Book")
    page.goto(f"/items/{book.pk}")
    expect(page.locator("[data-part]")).to_have_count(1)
    page.locator(".onward a").scroll_into_view_if_needed()
    expect(page.locator("[data-part]")).to_have_count(2)
    at = CHAPTERS.index("Chapter 57.")
    page.goto(f"/items/{book.pk}#char={at},{at + 40}")
    page.wait_for_url("**?part=*")
    expect(page.get_by_text("Chapter 57.")).to_be_in_viewport()
    finds_step_through_a_text(page)


def finds_step_through_a_text(page: Page) -> None:
    find, told = page.locator("#find"), page.locator("[data-count]")
    text = page.locator("[data-reading]")
    find.press_sequentially("chapter 3")
    expect(told).to_have_text("11 places")
    find.press("Enter")  # in a part that is not there yet
    expect(told).to_have_text("1 of 11")
    expect(text.get_by_text("Chapter 3.")).to_be_in_viewport()
    expect(find).to_be_focused()
    find.press("Enter")
    find.press("Enter")
    expect(told).to_have_text("3 of 11")
    find.press("Shift+Enter")
    expect(told).to_have_text("2 of 11")
    marked = "[...CSS.highlights.get('place')].map((range) => range.toString()).join()"
    assert page.evaluate(marked) == "Chapter 3"
    expect(text.get_by_text("Chapter 30.")).to_be_in_viewport()
    page.get_by_role("link", name="Previous place").click()
    page.get_by_role("link", name="Previous place").click()
    expect(told).to_have_text("11 of 11")
    expect(text.get_by_text("Chapter 39.")).to_be_in_viewport()


def note_dialog(dialog: Dialog, dialogs: list[str]) -> None:
    dialogs.append(dialog.message)
    dialog.dismiss()


def hostile_words_run_nothing(page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: note_dialog(dialog, dialogs))
    page.add_init_script(f"({VIOLATIONS})()")
    hostile = Item.objects.get(content__title=HOSTILE)
    for address in (
        *("/", "/?q=lava", "/?q=%3Csvg+onload%3Dalert(1)%3E", "/folders/"),
        *(f"/items/{hostile.pk}", f"/items/{hostile.pk}?find=alert", "/?tag=%22%3E%3Cscript%3E"),
    ):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.violations") == [], address
    page.goto("/?q=lava")
    page.locator("input[name=item]").first.check(force=True)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("deleted.")).to_be_visible()
    assert dialogs == []


def test_reading_and_searching_need_no_scripts(
    browser: Browser, signed_in: Page, access: Access
) -> None:
    signed_in.goto("/")
    origin: Any = signed_in.evaluate("location.origin")
    state: Any = signed_in.context.storage_state()
    context = browser.new_context(base_url=origin, java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto("/")
    page.locator("#q").fill("next explosion")
    page.get_by_role("button", name="Search").click()
    page.locator(".found .line-title").first.click()
    expect(page.get_by_role("heading", name="Field notes")).to_be_visible()
    expect(page.locator(".marked").first).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    context.close()
