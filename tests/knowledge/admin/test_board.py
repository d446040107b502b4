"""The task board."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge.access import Access
from knowledge.memory.remembering import add
from knowledge.memory.task_changes import manage
from knowledge.models import Item
from tests.support.admin import HOSTILE, Task, make_staff
from tests.support.admin_pages import page_of, sent
from tests.support.library import Add

BOARD = "admin:knowledge_memory_board"


def moved(client: Client, work: Item, to: str, **form: str) -> str:
    asked = {"task": str(work.pk), "stood": work.attributes["status"], "to": to, **form}
    page = sent(client, BOARD, **asked)
    work.refresh_from_db()
    return page


def moves_on(page: str, work: Item) -> list[str]:
    card = re.search(rf'<article id="task-{work.pk}".*?</article>', page, re.DOTALL)
    assert card
    return re.findall(r'name="to" value="(\w+)"', card[0])


def test_a_card_offers_just_the_legal_moves_and_moves(admin_client: Client, task: Task) -> None:
    work, other = task("Measure", "doing"), task("Idle")
    page = page_of(admin_client, BOARD)
    assert moves_on(page, work) == ["review", "done", "todo", "blocked"]
    assert moves_on(page, other) == ["todo"]
    assert "Measure: review." in moved(admin_client, work, "review")
    assert work.attributes["status"] == "review"
    assert LogEntry.objects.get().change_message == "Moved from doing to review."


def test_an_illegal_move_is_refused_with_the_legal_ones(admin_client: Client, task: Task) -> None:
    work = task("Measure")
    page = moved(admin_client, work, "done")
    assert "A task cannot go from backlog to done; it can go to: todo." in page
    assert work.attributes["status"] == "backlog"


def test_a_move_from_an_old_page_is_refused_by_what_holds_now(
    admin_client: Client, task: Task, library: Access
) -> None:
    work = task("Measure", "todo")
    manage(library, action="start_task", entity_id=work.pk)
    page = moved(admin_client, work, "doing")
    assert "Measure has been moved: it is doing now" in page
    assert work.attributes["status"] == "doing"


def test_a_task_is_blocked_with_what_blocks_it(admin_client: Client, task: Task) -> None:
    work = task("Measure", "doing")
    assert "No licence yet" in moved(admin_client, work, "blocked", reason="No licence yet")
    assert work.attributes["blocked_reason"] == "No licence yet"


@pytest.mark.parametrize("form", [{}, {"task": "x"}, {"to": "nowhere"}])
def test_a_post_that_is_no_move_moves_nothing(
    admin_client: Client, task: Task, form: dict[str, str]
) -> None:
    task("Measure")
    assert "That is not a valid move" in sent(admin_client, BOARD, **form)


def test_a_task_that_is_gone_is_said_to_be_gone(admin_client: Client, task: Task, add: Add) -> None:
    document = add("Consent")
    form = {"task": str(document.pk), "stood": "todo", "to": "doing"}
    assert "The task no longer exists." in sent(admin_client, BOARD, **form)


def test_a_card_tells_what_it_waits_for_and_that_it_is_overdue(
    admin_client: Client, task: Task
) -> None:
    first = task("Measure", due_date="2020-02-01", priority="critical", assignees=["ada/laptop"])
    task("Tune", depends_on=[first.pk])
    page = page_of(admin_client, BOARD)
    assert "2020-02-01" in page
    assert page.count("overdue") == 1
    assert "ada/laptop" in page
    assert re.search(r"Waits for</dt><dd>.*Measure</a> \(backlog\)", page)


def test_the_board_is_narrowed_to_an_owner_and_a_project(
    admin_client: Client, task: Task, project: Item, owner: User, stranger: User
) -> None:
    theirs = Access.whole_library(stranger.pk)
    site = add(theirs, title="Site", content="Public.", entity_type="project").item
    add(theirs, title="Colour", content="Blue.", entity_type="task", project=site.pk)
    task("Measure")
    for query, shown, hidden in (
        ({"owner": owner.pk}, "Measure", "Colour"),
        ({"project": site.pk}, "Colour", "Measure"),
    ):
        page = page_of(admin_client, BOARD, **query)
        assert f">{shown}</a>" in page
        assert f">{hidden}</a>" not in page
    nothing = page_of(admin_client, BOARD, owner=owner.pk, project=site.pk)
    assert "No tasks of that owner and project." in nothing
    assert "not one of the available choices" in page_of(admin_client, BOARD, owner="nobody")


def test_a_column_shows_so_many_cards_and_says_how_many_more_there_are(
    admin_client: Client, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.memory.task_board.SHOWN", 2)
    for number in range(3):
        task(f"Task {number}")
    page = page_of(admin_client, BOARD)
    assert page.count("<article") == 2
    assert "1 more in the list" in page


def test_an_empty_board_says_how_to_fill_it(admin_client: Client) -> None:
    page = page_of(admin_client, BOARD)
    assert "No tasks yet." in page
    assert reverse("admin:knowledge_memory_add") in page


def test_who_may_only_look_moves_nothing(client: Client, owner: User, task: Task) -> None:
    work = task("Measure")
    viewer = make_staff(owner, "view_memory")
    client.force_login(viewer)
    assert moves_on(page_of(client, BOARD), work) == []
    form = {"task": str(work.pk), "stood": "backlog", "to": "todo"}
    assert client.post(reverse(BOARD), form).status_code == 403
    viewer.user_permissions.clear()
    assert client.get(reverse(BOARD)).status_code == 403


def test_a_move_needs_the_pages_own_token(admin_user: User, task: Task) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin_user)
    form = {"task": str(task("Measure").pk), "stood": "backlog", "to": "todo"}
    assert strict.post(reverse(BOARD), form).status_code == 403


def test_markup_in_a_task_is_never_markup_on_the_board(
    admin_client: Client, full_house: Item
) -> None:
    page = admin_client.get(reverse(BOARD)).content.decode()
    assert "task &lt;script&gt;" in page
    assert HOSTILE not in page
