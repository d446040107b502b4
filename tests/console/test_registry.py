"""Registry: found, read, contributed, judged; and never more than is shared."""

import json

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from knowledge.access import Access
from knowledge.models import Item, Validation, Version
from knowledge.registry.contributing import contribute_knowledge, contribute_skill
from tests.support.contributions import SOP
from tokens.minting import TokenRequest, mint_token

HOSTILE = "<script>alert(1)</script>"
SKILL = """---
name: measure-granite
description: Measures how hard granite is, step by step, with a hammer.
version: 1.0.0
tags: [stone]
---
# Measure granite

1. Take a hammer.
2. Strike, and listen.
"""


def shared(access: Access, skill: str = SKILL, visibility: str = "network") -> Item:
    return contribute_skill(access, skill_md_content=skill, visibility=visibility).item


def test_a_skill_is_contributed_found_read_and_taken_back(visitor: Client) -> None:
    assert "Nothing here yet" in visitor.get("/registry/").content.decode()
    asked = {"kind": "skill", "document": SKILL, "visibility": "private"}
    page = visitor.post("/registry/contribute", asked, follow=True).content.decode()
    item = Item.objects.get()
    assert "Version 1 is there." in page
    assert "Strike, and listen." in page
    found = visitor.get("/registry/?q=hammer", headers={"HX-Request": "true"}).content.decode()
    assert "measure-granite" in found
    assert "<html" not in found
    assert (item.type, item.visibility) == ("skill", "private")
    [undo] = [part.split('"')[0] for part in page.split('action="') if part.startswith("/undo/")]
    visitor.post(undo)
    assert not Item.objects.exists()


def test_a_new_version_begins_with_the_last_and_both_can_be_read(
    visitor: Client, library: Access
) -> None:
    item = shared(library)
    form = visitor.get(f"/registry/contribute?from={item.pk}").content.decode()
    assert "Strike, and listen." in form
    changed = SKILL.replace("1.0.0", "1.1.0").replace("a hammer.\n", "a chisel.\n")
    asked = {"kind": "skill", "document": changed, "visibility": "network"}
    visitor.post("/registry/contribute", asked)
    assert Version.objects.count() == 2
    assert "a chisel." in visitor.get(f"/registry/{item.pk}").content.decode()
    assert "Take a hammer." in visitor.get(f"/registry/{item.pk}?version=1").content.decode()
    assert visitor.get(f"/registry/{item.pk}?version=7").status_code == 404


def test_a_unit_is_contributed_as_a_file(visitor: Client) -> None:
    file = SimpleUploadedFile("unit.json", json.dumps(SOP).encode())
    asked = {"kind": "unit", "document": "", "visibility": "private", "file": file}
    page = visitor.post("/registry/contribute", asked, follow=True).content.decode()
    assert "Version 1 is there." in page
    assert "ExpertSOP" in visitor.get("/registry/?kind=units").content.decode()


def test_what_is_wrong_with_a_contribution_is_listed(visitor: Client) -> None:
    for kind, document, says in (
        ("skill", "no front matter", "front"),
        ("unit", "{", "not JSON"),
        ("unit", "[]", "JSON object"),
        ("unit", '{"@type": "ExpertSOP"}', "What to correct"),
        ("skill", "", "Paste the text"),
        ("skill", SKILL + "\nghp_" + "a1B2c3D4e5F6" * 3, "secret"),
    ):
        asked = {"kind": kind, "document": document, "visibility": "private"}
        answer = visitor.post("/registry/contribute", asked)
        assert answer.status_code == 422
        assert says in answer.content.decode()
    assert not Item.objects.exists()


def test_another_judges_and_the_owner_does_not(
    visitor: Client, other_visitor: Client, library: Access
) -> None:
    item = shared(library)
    at = f"/registry/{item.pk}"
    page = other_visitor.post(at, {"valid": "yes", "feedback": "It rings."}, follow=True)
    assert "Your judgment counts" in page.content.decode()
    assert "It rings." in visitor.get(at).content.decode()
    assert Validation.objects.get().valid is True
    assert "Your judgment" not in visitor.get(at).content.decode()
    assert visitor.post(at, {"valid": "yes"}).status_code == 409
    assert other_visitor.post(at, {"valid": ""}).status_code == 422


def test_quality_is_shown_with_its_factors(visitor: Client, library: Access) -> None:
    page = visitor.get(f"/registry/{shared(library).pk}").content.decode()
    assert "Completeness" in page
    assert "<progress" in page


def test_a_skill_is_downloaded_as_a_folder(visitor: Client, library: Access) -> None:
    answer = visitor.get(f"/registry/{shared(library).pk}/archive")
    assert answer["Content-Type"] == "application/zip"
    assert answer.content.startswith(b"PK")
    unit = contribute_knowledge(library, unit=SOP, visibility="private").item
    assert visitor.get(f"/registry/{unit.pk}/archive").status_code == 404


def test_what_is_private_is_nobody_elses(
    other_visitor: Client, library: Access, stranger: User
) -> None:
    item = shared(library, visibility="private")
    unit = contribute_knowledge(library, unit=SOP, visibility="private").item
    for page in ("/registry/", "/registry/?kind=units", "/registry/?q=granite+hammer"):
        said = other_visitor.get(page).content.decode()
        assert "measure-granite" not in said
        assert str(unit.pk) not in said
    for each in (item, unit):
        assert other_visitor.get(f"/registry/{each.pk}").status_code == 404
        assert other_visitor.post(f"/registry/{each.pk}", {"valid": "yes"}).status_code == 404
    assert other_visitor.get(f"/registry/{item.pk}/archive").status_code == 404
    prefilled = other_visitor.get(f"/registry/contribute?from={item.pk}").content.decode()
    assert "granite" not in prefilled


def test_a_document_is_no_contribution(visitor: Client, add) -> None:
    assert visitor.get(f"/registry/{add('Granite').pk}").status_code == 404


def test_a_hostile_skill_is_only_text(visitor: Client, other_visitor: Client, library) -> None:
    text = SKILL.replace("# Measure granite", f"# {HOSTILE}\n<img src=x onerror=alert(2)>")
    item = shared(library, text.replace("step by step", HOSTILE).replace("stone", "a><svg"))
    other_visitor.post(f"/registry/{item.pk}", {"valid": "yes", "feedback": HOSTILE})
    pages = (f"/registry/{item.pk}", "/registry/", f"/registry/contribute?from={item.pk}")
    for page in pages:
        said = visitor.get(page).content.decode()
        assert "&lt;script&gt;alert(1)" in said
        for code in (HOSTILE, "<img src=x", "a><svg"):
            assert code not in said


def test_the_name_of_a_skill_is_words_on_every_page(visitor: Client, library: Access) -> None:
    name = "<img src=x onerror=alert(1)>"
    skill = SKILL.replace("name: measure-granite", f"name: '{name}'")
    asked = {"kind": "skill", "document": skill, "visibility": "private"}
    answer = visitor.post("/registry/contribute", asked, follow=True)
    item = Item.objects.get()
    token, _ = mint_token(User.objects.get(), TokenRequest(name="x", folder_ids=None))
    pages = [
        *("/", "/?q=hammer", "/registry/", "/registry/?q=hammer", "/changes/", "/memory/relations"),
        *(f"/registry/{item.pk}", f"/registry/contribute?from={item.pk}", f"/items/{item.pk}"),
        *(f"/connections/{token.pk}?q=hammer", f"/memory/relations/{item.pk}", "/ask/"),
    ]
    for page in [answer, *(visitor.get(address) for address in pages)]:
        assert page.status_code == 200
        assert name not in page.content.decode()
    assert "&lt;img src=x" in visitor.get("/registry/").content.decode()
    visitor.post(f"/items/{item.pk}/do/delete")
    gone = visitor.get("/changes/?show=deleted").content.decode()
    assert "&lt;img src=x" in gone
    assert name not in gone
