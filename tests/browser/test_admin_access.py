"""The admin for everybody: by keyboard, by name, on a phone, in both themes."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.support.admin import furnish

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = (
    *("", "knowledge/item/", "knowledge/item/add/", "knowledge/memory/board/"),
    *("knowledge/agent/graph/", "tokens/token/add/", "tokens/event/", "auth/user/"),
)
NAMELESS = """
() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button")]
    .filter((control) => control.checkVisibility({ visibilityProperty: true }))
    .filter((control) => control.getBoundingClientRect().width > 0)
    .filter((control) => !(
        control.getAttribute("aria-label") || control.title ||
        [...(control.labels ?? [])].some((label) => label.textContent.trim()) ||
        (control.tagName === "BUTTON" && control.textContent.trim())
    ))
    .map((control) => control.outerHTML.slice(0, 200))
"""


@pytest.fixture
def furnished(signed_in: Page) -> Page:
    furnish(User.objects.get(username="admin"), "Blackbird")
    return signed_in


def test_the_first_tab_leads_to_a_link_that_skips_the_menu(signed_in: Page) -> None:
    signed_in.goto("/admin/knowledge/item/")
    signed_in.keyboard.press("Tab")
    skip = signed_in.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    signed_in.keyboard.press("Enter")
    assert signed_in.url.endswith("#content")


def test_every_control_has_a_name_and_no_page_is_wider_than_its_screen(furnished: Page) -> None:
    for width in (1440, 390):
        furnished.set_viewport_size({"width": width, "height": 900})
        for address in PAGES:
            furnished.goto(f"/admin/{address}")
            expect(furnished.locator("h1")).to_have_count(1)
            assert furnished.evaluate(NAMELESS) == [], address
            assert furnished.evaluate("document.documentElement.scrollWidth") <= width, address


def test_the_board_shows_every_column_at_1440_pixels(furnished: Page) -> None:
    furnished.set_viewport_size({"width": 1440, "height": 900})
    furnished.goto("/admin/knowledge/memory/board/")
    board = furnished.locator(".quarry-board")
    assert board.evaluate("board => board.scrollWidth - board.clientWidth") <= 0
    for status in ("Backlog", "Doing", "Archived"):
        expect(furnished.get_by_role("heading", name=status)).to_be_in_viewport()


def test_the_menu_the_title_and_the_heading_of_a_list_agree(furnished: Page) -> None:
    furnished.set_viewport_size({"width": 1440, "height": 900})
    for address, name in (
        ("tokens/event/", "Activity"),
        ("auth/user/", "People"),
        ("knowledge/quarantine/", "Quarantine"),
        ("knowledge/generation/", "Embeddings"),
    ):
        furnished.goto(f"/admin/{address}")
        expect(furnished).to_have_title(f"{name} | Quarry")
        expect(furnished.locator("h1")).to_contain_text(name)
        expect(furnished.locator("#nav-sidebar a.active")).to_contain_text(name)


def test_charts_have_their_numbers_in_a_table(furnished: Page) -> None:
    furnished.goto("/admin/")
    chart = furnished.locator("figure", has_text="Items added")
    chart.get_by_text("As a table").click()
    expect(chart.get_by_role("columnheader", name="Items")).to_be_visible()
    expect(chart.get_by_role("img", name="Items added on each of the last 14 days")).to_be_visible()
