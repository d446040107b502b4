"""What every page of the console has: a sign-in before it, a policy, a theme and an undo."""

from dataclasses import replace
from uuid import uuid4

from django.test import Client

from knowledge.access import Access
from knowledge.library.items import delete_item
from knowledge.models import Item
from tests.support.library import Add

HTMX = {"HX-Request": "true"}


def test_nobody_sees_a_page_without_signing_in(db: None) -> None:
    assert Client().get("/")["Location"] == "/accounts/login/?next=/"
    answer = Client().get("/", headers=HTMX)
    assert answer["HX-Redirect"].startswith("/accounts/login/")


def test_pages_allow_neither_inline_scripts_nor_evaluation(visitor: Client) -> None:
    policy = visitor.get("/")["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "unsafe-eval" in visitor.get("/admin/")["Content-Security-Policy"]


def test_a_chosen_theme_is_drawn_by_the_server(visitor: Client) -> None:
    assert "data-theme" not in visitor.get("/").content.decode()
    visitor.post("/theme", {"theme": "dark"})
    assert '<html lang="en" data-theme="dark">' in visitor.get("/").content.decode()
    visitor.post("/theme", {"theme": '"><script>'})
    assert '<html lang="en" data-theme="dark">' in visitor.get("/").content.decode()


def test_the_menu_names_only_pages_that_there_are(visitor: Client) -> None:
    page = visitor.get("/").content.decode()
    for line in page.split('<nav id="menu"')[1].split("</nav>")[0].split("href=")[1:]:
        address = line.split('"')[1]
        if address.startswith("/") and not address.startswith("/static/"):
            assert visitor.get(address).status_code == 200


def test_undo_reaches_nothing_of_somebody_else(
    other_visitor: Client, library: Access, add: Add
) -> None:
    item, action_id = add("Basalt"), uuid4()
    delete_item(replace(library, action_id=action_id), item.pk)
    other_visitor.post(f"/undo/{action_id}")
    assert not Item.objects.filter(pk=item.pk).exists()


def test_whoever_was_signed_out_comes_back_to_the_page_that_a_form_was_on(
    client: Client, visitor: Client
) -> None:
    sent = client.post("/items/actions", {}, headers={"Referer": "http://testserver/?q=granite"})
    assert sent["Location"] == "/accounts/login/?next=http%3A//testserver/%3Fq%3Dgranite"
    asked = client.get("/folders/")
    assert asked["Location"] == "/accounts/login/?next=/folders/"
    by_script = client.get("/?q=gra", headers={"HX-Request": "true"})
    assert by_script["HX-Redirect"] == "/accounts/login/?next=/"


def test_the_address_of_a_button_answers_with_a_page(visitor: Client) -> None:
    answer = visitor.get("/settings/import")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "This address only takes what a form sends." in answer.content.decode()
