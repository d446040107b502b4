"""A new person, from an invitation to a first cited hit and a connected client, with no manual."""

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.browsing import in_a_browser
from tests.support.mcp_agent import Agent
from tests.support.quarry import Server

LEFT_EDGES = "lines => lines.map((line) => line.getBoundingClientRect().left)"
NOTE = """# Field notes

The mountain was quiet for most of the summer, and the shepherds went up as in other years.

The next explosion is expected before the end of October, says the observatory: the tremor has
grown for three weeks, and the old crater smokes again in the mornings.
"""
QUESTION = "when is the next explosion"
Shoot = Callable[[Page, str], None]


def test_a_new_person_is_invited_adds_finds_and_connects_an_agent(
    quarry: Server, tmp_path: Path
) -> None:
    """A picture of each step is kept in the folder that QUARRY_SCREENSHOTS names."""
    folder = Path(os.environ.get("QUARRY_SCREENSHOTS") or tmp_path)
    link = quarry.run("invite", "--url", quarry.url).strip()
    steps: list[str] = []

    def shoot(page: Page, name: str) -> None:
        steps.append(name)
        page.screenshot(path=folder / f"{len(steps)}-{name}.png")

    secret = in_a_browser(lambda page: spend_an_hour(page, link, shoot))
    assert steps == ["invitation", "welcome", "add", "found", "read", "connect"]
    answer = Agent(quarry.url, secret, "auto").call("search_knowledge_base", query=QUESTION)
    assert answer.structured_content
    [hit] = answer.structured_content["results"]
    assert hit["title"] == "Field notes"
    assert "before the end of October" in hit["passage"]


def spend_an_hour(page: Page, link: str, shoot: Shoot) -> str:
    """What they click and type, each time what the page itself offers; the token of their agent."""
    page.goto(link)
    shoot(page, "invitation")
    page.fill("[name=username]", "nora")
    page.fill("[name=password]", "quarry-stone-42")
    page.get_by_role("button").click()
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()
    lefts = page.locator(".steps li").evaluate_all(LEFT_EDGES)
    assert len(lefts) == 3
    assert len(set(lefts)) == 1  # one below the other
    shoot(page, "welcome")
    page.get_by_role("link", name="Add something").click()
    page.get_by_text("A text", exact=True).click()
    page.get_by_label("Title").fill("Field notes")
    page.get_by_label("Text", exact=True).fill(NOTE)
    shoot(page, "add")
    page.get_by_role("button", name="Add text").click()
    expect(page.get_by_text("Added “Field notes”.")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.wait_for_url("**/")
    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    expect(page.locator(".found mark").first).to_be_visible()
    shoot(page, "found")
    page.locator(".found a.line-title").first.click()
    page.wait_for_url("**/items/*#char=*")
    expect(page.locator(".marked", has_text="next explosion")).to_be_visible()
    shoot(page, "read")
    page.get_by_role("link", name="Connections").first.click()
    page.get_by_role("link", name="New token").first.click()
    page.get_by_label("Name").fill("Claude Code")
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#secret").inner_text()
    shoot(page, "connect")
    return secret
