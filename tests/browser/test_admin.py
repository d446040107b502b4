import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Dialog, Page, expect

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.items import create_folder
from knowledge.models import Content, ContentState, Item, TranscriptionStatus
from tests.support.library import LONG_ENOUGH
from tokens.authentication import authenticate
from tokens.models import Token
from tokens.secrets import is_well_formed

pytestmark = pytest.mark.django_db(transaction=True)


def mint(page: Page) -> str:
    """Fill the form in as a person would; answers the secret on the page."""
    page.goto("/admin/tokens/token/add/")
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("The whole library").check()
    page.get_by_role("button", name="Mint").click()
    secret = page.locator("#secret").inner_text()
    assert is_well_formed(secret)
    page.wait_for_url("**/change/")  # where a reload leads: the page's script says so when it runs
    return secret


def pasted(page: Page) -> str:
    """What the clipboard holds; scripts of the page may not read it."""
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('textarea'), {id: 'paste'}))"
    )
    page.locator("body > textarea").press("Control+V")
    text = page.locator("body > textarea").input_value()
    page.locator("body > textarea").evaluate("it => it.remove()")
    return text


def test_the_copy_button_copies_the_secret(signed_in: Page) -> None:
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    secret = mint(signed_in)
    signed_in.locator("[data-copy=secret]").click()
    expect(signed_in.get_by_role("status")).to_have_text("Copied.")
    assert pasted(signed_in) == secret
    signed_in.locator("[data-copy=claude-code]").click()
    expect(signed_in.locator("[data-copy=claude-code]")).to_have_text("Copied")
    assert secret in pasted(signed_in)


def test_the_copy_button_copies_where_a_page_has_no_clipboard(signed_in: Page) -> None:
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined});")
    secret = mint(signed_in)
    signed_in.locator("[data-copy=secret]").click()
    expect(signed_in.get_by_role("status")).to_have_text("Copied.")
    assert pasted(signed_in) == secret


def test_a_reload_and_the_way_back_show_the_token_without_its_secret(signed_in: Page) -> None:
    secret = mint(signed_in)
    signed_in.reload()
    expect(signed_in.get_by_text("Laptop (qry_").first).to_be_visible()
    assert secret not in signed_in.content()
    signed_in.go_back()
    signed_in.go_forward()
    assert secret not in signed_in.content()
    assert Token.objects.count() == 1
    authenticate(secret)


def test_going_back_from_another_page_does_not_show_the_secret(signed_in: Page) -> None:
    secret = mint(signed_in)
    signed_in.get_by_role("link", name="Items").click()
    signed_in.wait_for_url("**/knowledge/item/")
    signed_in.go_back()
    assert secret not in signed_in.content()
    assert Token.objects.count() == 1


def test_a_folder_is_chosen_by_typing_and_the_token_is_revoked_by_its_button(
    signed_in: Page,
) -> None:
    whole = Access.whole_library(User.objects.get().pk)
    folder, _ = create_folder(whole, "Research"), create_folder(whole, "Recipes")
    signed_in.goto("/admin/tokens/token/add/")
    signed_in.get_by_label("Name").fill("Scoped")
    signed_in.locator(".field-folder_ids .select2-search__field, .select2-search__field").fill(
        "Res"
    )
    signed_in.get_by_role("option", name="Research").click()
    signed_in.get_by_role("button", name="Mint").click()
    secret = signed_in.locator("#secret").inner_text()
    assert authenticate(secret).access.folder_ids == frozenset({folder.pk})
    signed_in.get_by_role("link", name="Done").click()
    signed_in.get_by_role("link", name="Revoke").click()
    signed_in.get_by_role("button", name="Yes").click()
    expect(signed_in.get_by_text("Revoked: Scoped")).to_be_visible()
    assert Token.objects.get().state == "revoked"


def test_markup_in_a_title_does_not_run(signed_in: Page) -> None:
    ran: list[Dialog] = []
    signed_in.on("dialog", lambda dialog: ran.append(dialog))
    title = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    whole = Access.whole_library(User.objects.get().pk)
    item = add_text(whole, title=title, text=title + LONG_ENOUGH)
    for address in ("", f"{item.pk}/change/", f"{item.pk}/delete/", "?q=img"):
        signed_in.goto(f"/admin/knowledge/item/{address}")
        expect(signed_in.get_by_text("onerror").first).to_be_attached()
    assert ran == []


def test_a_recording_that_failed_is_tried_again_by_its_button(signed_in: Page) -> None:
    whole = Access.whole_library(User.objects.get().pk)
    item = add_text(whole, title="Talk", text="Talk." + LONG_ENOUGH)
    Content.objects.update(
        state=ContentState.FAILED,
        transcription_status=TranscriptionStatus.FAILED,
        reason="no_speech",
        error="Nobody speaks in it.",
    )
    signed_in.goto(f"/admin/knowledge/item/{item.pk}/change/")
    signed_in.get_by_role("link", name="Try again").click()
    expect(signed_in.get_by_text("It failed (no_speech). Nobody speaks in it.")).to_be_visible()
    signed_in.get_by_role("button", name="Try again").click()
    expect(signed_in.get_by_text("One item is being tried again.")).to_be_visible()
    assert Content.objects.get().state == ContentState.QUEUED


def test_no_page_is_wider_than_a_phone(signed_in: Page) -> None:
    signed_in.set_viewport_size({"width": 390, "height": 844})
    mint(signed_in)
    assert signed_in.evaluate("document.documentElement.scrollWidth") <= 390
    for address in (
        *("", "tokens/token/", "tokens/token/add/", "auth/user/1/", "knowledge/tier/"),
        *("knowledge/item/", "knowledge/item/add/", "knowledge/content/"),
    ):
        signed_in.goto(f"/admin/{address}")
        assert signed_in.evaluate("document.documentElement.scrollWidth") <= 390, address


def test_a_tokens_writes_are_undone_from_its_page(signed_in: Page) -> None:
    token = authenticate(mint(signed_in))
    Token.objects.update(can_write=True)
    token.refresh_from_db()
    add_text(token.access, title="Agent's note", text=f"Agent's note.{LONG_ENOUGH}")
    signed_in.goto(f"/admin/tokens/token/{token.pk}/change/")
    signed_in.get_by_role("link", name="Undo its writes…").click()
    expect(signed_in.locator("[data-undone]")).to_contain_text("item added: Agent's note")
    signed_in.get_by_role("button", name="Undo these").click()
    expect(signed_in.get_by_text("Undone: 1.").first).to_be_visible()
    assert not Item.objects.exists()
