"""Memory, the registry and documentation sources, out and in again."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.access import Access
from knowledge.crawling.documentation import add_source
from knowledge.library import items as shelves
from knowledge.library.items import file_item
from knowledge.memory.relations import relate, unrelate
from knowledge.models import (
    CrawlState,
    Folder,
    Item,
    Quality,
    Quarantine,
    Relation,
    Source,
    SourcePage,
    Version,
)
from knowledge.moderation.quarantine import quarantine_item
from knowledge.registry.contributing import contribute_knowledge, contribute_skill
from knowledge.registry.reading import get_skill, skill_archive, skill_versions
from knowledge.trust.novelty import novelty_of
from knowledge.undo import token_writes as undo
from tests.support.adding import run_jobs
from tests.support.contributions import PATTERN, SKILL_MD, SOP, TRACE
from tests.support.exchange import (
    exported,
    imported,
    lines,
    members,
    rezipped,
    state_of,
    wipe,
    with_lines,
)
from tests.support.index import faults
from tests.support.library import Mint
from tests.support.rollback import each_case
from tests.support.undo import SUSPECT, crawled_source
from tests.support.writing import memory, project, task

SECRET = "The key is ghp_" + "Zq7Xw2Lk9Vb4Nm1Ty8Rc3Hd6Js5Fg0PaEuQi"
LONG_AGO = "2001-01-01T00:00:00Z"
LINKS = ("relations.jsonl", "versions.jsonl", "sources.jsonl")


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


def remember(access: Access) -> dict[str, Any]:
    """Memory with relations that hold and one that ended, skills, units and a crawled source."""
    work = project(access, "Quarry")
    first = task(access, "Lay the ground", work)
    second = task(access, "Build on it", work, depends_on=[str(first.pk)], priority="high")
    rule = memory(access, "Measure first", entity_type="rule", related_to=[str(work.pk)])
    ended = relate(access, rule.pk, second.pk, type="supports", weight=0.5)
    unrelate(access, ended.pk)
    skill = contribute_skill(access, skill_md_content=SKILL_MD, visibility="network").item
    files = {"scripts/check.py": "print('checked')\n", "logo.png": {"base64": "iVBORw0KGgoA/w=="}}
    newer = SKILL_MD.replace('"1.2"', '"1.3"')
    contribute_skill(access, skill_md_content=newer, files=files)
    units = [
        contribute_knowledge(access, unit=unit, visibility="org").item
        for unit in (TRACE, PATTERN, SOP)
    ]
    return {
        "project": work,
        "first": first,
        "second": second,
        "rule": rule,
        "skill": skill,
        "unit": units[0],
        "source": crawled_source(access),
    }


def forged(archive: bytes, name: str, **fields: Any) -> bytes:
    """The archive with other values in the first line of a member."""

    def change(found: list[dict[str, Any]]) -> None:
        found[0].update(fields)

    return with_lines(archive, name, change)


def reasons(archive: bytes, access: Access) -> list[str]:
    return [problem.message for problem in imported(access, archive).problems]


# Round trips ----------------------------------------------------------------------------------


def test_memory_comes_back_as_it_was_and_is_exported_to_the_same_bytes(library: Access) -> None:
    remember(library)
    run_jobs()
    before, first = state_of(library), exported(library)
    wipe(library)
    report = imported(library, first)
    assert (report.relations, report.versions, report.sources, report.problems) == (5, 5, 1, [])
    run_jobs()
    assert state_of(library) == before
    assert exported(library) == first
    assert faults() == {}


def test_the_second_round_trip_into_another_library_is_identical(
    library: Access, theirs: Access
) -> None:
    remember(library)
    imported(theirs, exported(library))
    second = exported(theirs)
    wipe(theirs)
    assert imported(theirs, second).problems == []
    assert exported(theirs) == second


def test_importing_twice_is_importing_once(library: Access, theirs: Access) -> None:
    remember(library)
    archive = exported(library)
    for access in (library, theirs):
        imported(access, archive)
        left = exported(access)
        again = imported(access, archive)
        assert (again.relations, again.versions, again.sources, again.failed) == (0, 0, 0, 0)
        assert exported(access) == left


def test_an_archive_without_these_members_is_still_taken(library: Access) -> None:
    remember(library)
    parts = members(exported(library))
    wipe(library)
    older = rezipped({name: data for name, data in parts.items() if name not in LINKS})
    report = imported(library, older)
    assert (report.items, report.relations, report.versions, report.sources) == (9, 0, 0, 0)


def test_an_import_that_broke_off_before_the_links_goes_on(library: Access) -> None:
    remember(library)
    archive = exported(library)
    parts = members(archive)
    wipe(library)
    imported(library, rezipped({n: data for n, data in parts.items() if n not in LINKS}))
    report = imported(library, archive)
    assert (report.items, report.relations, report.versions, report.sources) == (0, 5, 5, 1)
    assert exported(library) == archive


def test_a_skill_comes_back_with_all_its_versions_and_files_and_is_scored_anew(
    library: Access,
) -> None:
    skill = remember(library)["skill"]
    files = skill_archive(library, skill.pk).files
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    assert not Quality.objects.filter(item=skill.pk).exists()
    run_jobs()
    back = get_skill(library, skill.pk)
    assert (back.version, back.version_label, back.visibility) == (2, "1.3", "network")
    assert [version.label for version in skill_versions(library, skill.pk)] == ["1.3", "1.2"]
    assert skill_archive(library, skill.pk).files == files
    assert Quality.objects.get(item=skill.pk).score == back.item.quality


def test_a_source_comes_back_idle_and_asks_its_pages_only_for_what_changed(
    library: Access,
) -> None:
    source = remember(library)["source"]
    before = SourcePage.objects.values("key", "item", "digest", "etag").get(state="kept")
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    back = Source.objects.with_progress().get(pk=source.pk)
    assert (back.state, back.percent, back.pages_known) == (CrawlState.DONE, 100, 2)
    assert back.finished_at == source.finished_at
    assert SourcePage.objects.values("key", "item", "digest", "etag").get(state="kept") == before


def test_a_source_that_was_being_crawled_comes_back_as_new(library: Access) -> None:
    source = crawled_source(library)
    Source.objects.filter(pk=source.pk).update(state="crawling", finished_at=None)
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    assert Source.objects.get(pk=source.pk).state == CrawlState.NEW


# Ids ------------------------------------------------------------------------------------------


def test_references_follow_the_ids_that_stand_in_for_those_of_another_owner(
    library: Access, theirs: Access
) -> None:
    mine = remember(library)
    before = exported(library)
    imported(theirs, before)
    assert exported(library) == before
    rows = {item.title: item for item in Item.objects.filter(owner_id=theirs.owner_id)}
    work, first, second = (rows[name] for name in ("Quarry", "Lay the ground", "Build on it"))
    assert work.pk != mine["project"].pk
    assert second.attributes["project"] == str(work.pk)
    depends = Relation.objects.get(owner_id=theirs.owner_id, type="depends_on")
    assert (depends.source_id, depends.target_id) == (second.pk, first.pk)
    page = SourcePage.objects.get(source__owner_id=theirs.owner_id, state="kept")
    assert Item.objects.get(source_page=page).owner_id == theirs.owner_id
    assert Version.objects.filter(item__owner_id=theirs.owner_id).count() == 5


def test_a_unit_whose_id_another_owner_has_published_stays_private(
    library: Access, theirs: Access
) -> None:
    contribute_knowledge(library, unit=TRACE, visibility="network")
    imported(theirs, exported(library))
    assert Item.objects.get(owner_id=theirs.owner_id).visibility == "private"


def test_an_import_by_a_token_can_be_undone(library: Access, stranger: User, mint: Mint) -> None:
    remember(library)
    archive = with_lines(
        exported(library), "versions.jsonl", lambda found: _with_body(found, SUSPECT)
    )
    token = mint(by=stranger)
    imported(token.access, archive)
    assert Item.objects.filter(owner=stranger).exclude(suspicions=[]).count() == 1
    undone = undo.undo(stranger.pk, token.row.pk, since=token.row.created_at)
    assert undone.skipped == []
    for model in (Item, Relation, Source):
        assert not model._default_manager.filter(owner=stranger).exists()


def test_a_copy_that_says_it_is_older_takes_nothing_from_the_original(
    library: Access, theirs: Access
) -> None:
    original = contribute_skill(library, skill_md_content=SKILL_MD, visibility="network").item
    copied = imported(theirs, forged(exported(library), "items.jsonl", created_at=LONG_AGO))
    assert (copied.items, copied.versions) == (1, 1)
    run_jobs()
    copy = Item.objects.get(owner_id=theirs.owner_id)
    assert (copy.created_at.year, copy.visibility) == (2001, "network")
    assert copy.arrived_at > original.arrived_at
    assert novelty_of(copy).value == pytest.approx(0.0, abs=0.01)
    assert novelty_of(original).value == pytest.approx(1.0)
    newer = SKILL_MD.replace('"1.2"', '"1.3"')
    made = contribute_skill(library, skill_md_content=newer, visibility="network")
    assert made.factors["novelty"]["value"] == pytest.approx(1.0)


def test_when_an_item_arrived_is_neither_told_nor_believed(library: Access) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="network")
    archive = exported(library)
    assert b"arrived_at" not in b"".join(members(archive).values())
    before = timezone.now()
    wipe(library)
    told = forged(archive, "items.jsonl", arrived_at=LONG_AGO)
    assert imported(library, told).items == 0
    assert imported(library, archive).items == 1
    assert Item.objects.get().arrived_at >= before
    assert exported(library) == archive


# Scope ----------------------------------------------------------------------------------------


def test_a_scoped_token_exports_no_link_to_what_it_does_not_see(
    library: Access, mint: Mint
) -> None:
    items = remember(library)
    shelf = shelves.create_folder(library, "Shelf")
    Source.objects.update(folder=shelf)
    for name in ("first", "rule"):
        file_item(library, items[name].pk, [shelf.pk])
    archive = exported(mint(shelf).access)
    assert lines(archive, "relations.jsonl") == lines(archive, "versions.jsonl") == []
    [source] = lines(archive, "sources.jsonl")
    assert [page["state"] for page in source["pages"]] == ["queued", "queued"]
    hidden = SourcePage.objects.get(state="kept")
    assert str(hidden.item_id).encode() not in members(archive)["sources.jsonl"]
    assert hidden.etag.encode() not in members(archive)["sources.jsonl"]


def test_a_token_of_another_folder_exports_no_source(library: Access, mint: Mint) -> None:
    crawled_source(library)
    other = Folder.objects.create(owner_id=library.owner_id, name="Other")
    assert lines(exported(mint(other).access), "sources.jsonl") == []


# Screening ------------------------------------------------------------------------------------


def test_what_is_suspected_is_imported_with_its_mark(library: Access, theirs: Access) -> None:
    memory(library, "Advice", entity_type="rule")

    def taint(found: list[dict[str, Any]]) -> None:
        found[0]["text"] = SUSPECT

    imported(theirs, with_lines(exported(library), "contents.jsonl", taint))
    item = Item.objects.get(owner_id=theirs.owner_id)
    assert item.suspicions[0]["kind"] == "injection"
    assert not item.quarantined


def test_what_was_deleted_while_held_back_is_not_imported_free(library: Access) -> None:
    skill = contribute_skill(library, skill_md_content=SKILL_MD, visibility="network").item
    archive = exported(library)
    quarantine_item(skill, [{"kind": "report", "agent_id": "eve/agent"}], "reports")
    shelves.delete_item(library, skill.pk)
    imported(library, archive)
    assert Item.objects.get().quarantined
    assert Quarantine.objects.get().reason == "reports"


def test_what_was_held_back_does_not_come_back_free(library: Access) -> None:
    skill = contribute_skill(library, skill_md_content=SKILL_MD, visibility="network").item
    quarantine_item(skill, [{"kind": "report", "agent_id": "eve/agent"}], "reports")
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    item = Item.objects.get(pk=skill.pk)
    assert (item.quarantined, item.visibility) == (True, "private")
    assert Quarantine.objects.get(item=item).verdict == "open"
    again = exported(library)
    wipe(library)
    imported(library, again)
    assert exported(library) == again


def test_a_secret_comes_back_to_its_owner_and_to_nobody_else(
    library: Access, theirs: Access
) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="network")
    archive = exported(library)
    tainted = with_lines(archive, "versions.jsonl", lambda found: _with_body(found, SECRET))
    imported(theirs, tainted)
    item = Item.objects.get(owner_id=theirs.owner_id)
    version = Version.objects.get(item=item)
    assert (item.visibility, version.visibility, item.quarantined) == ("private",) * 2 + (False,)
    assert SECRET in version.document["skill_md"]
    assert not Item.objects.published_to(library).filter(pk=item.pk).exists()


def _with_body(versions: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """The first version of the skill, and no other, with this in it."""
    version = next(each for each in versions if "skill_md" in each["document"])
    skill_md = SKILL_MD + f"\n{text}\n"
    return [{**version, "document": {"skill_md": skill_md, "body": "told otherwise"}}]


def test_orders_in_a_version_make_its_item_private(library: Access, theirs: Access) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="network")
    archive = exported(library)
    imported(
        theirs,
        with_lines(archive, "versions.jsonl", lambda found: _with_body(found, SUSPECT)),
    )
    item = Item.objects.get(owner_id=theirs.owner_id)
    assert (bool(item.suspected), item.visibility) == (True, "private")


@pytest.mark.parametrize("said", [SUSPECT, SECRET])
def test_escapes_of_yaml_hide_nothing_in_a_version(
    library: Access, theirs: Access, said: str
) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="network")
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in said)

    def taint(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        skill_md = SKILL_MD.replace("license: MIT", f'license: "{escaped}"')
        return [{**found[0], "document": {"skill_md": skill_md, "body": ""}}]

    imported(theirs, with_lines(exported(library), "versions.jsonl", taint))
    item = Item.objects.get(owner_id=theirs.owner_id)
    assert (item.visibility, item.versions.get().visibility) == ("private", "private")
    assert item.suspicions[0]["kind"] == ("injection" if said == SUSPECT else "secret")


# Hostile archives -----------------------------------------------------------------------------


def test_a_versions_body_and_digest_follow_from_what_it_holds(
    library: Access, theirs: Access
) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="private")
    true = Version.objects.get()
    imported(
        theirs,
        forged(
            exported(library),
            "versions.jsonl",
            digest="0" * 64,
            document={"skill_md": SKILL_MD, "body": 7, "more": []},
        ),
    )
    back = Version.objects.get(item__owner_id=theirs.owner_id)
    assert (back.digest, back.document) == (true.digest, true.document)


@each_case(
    "fields",
    [
        {"document": {}},
        {"document": {"skill_md": 7}},
        {"document": {"skill_md": "no frontmatter"}},
        {"document": {"skill_md": SKILL_MD + "\x00"}},
        {"document": {"a": {"b": "\x00"}}},
        {"files": {"../../etc/passwd": {"text": "x"}}},
        {"files": {"a.txt": {"base64": "%%%"}}},
        {"files": {"a.txt": {}}},
        {"files": {"SKILL.md": {"text": "x"}}},
        {"number": 0},
        {"number": 2**40},
        {"visibility": "everybody"},
        {"label": "x" * 51},
        {"added_by_agent": "ada/agent"},
        {"item_id": str(UUID(int=1))},
    ],
)
def test_a_version_that_breaks_a_rule_is_left_out_and_told(
    library: Access, fields: dict[str, Any]
) -> None:
    contribute_skill(library, skill_md_content=SKILL_MD, visibility="network")
    archive = exported(library)
    wipe(library)
    report = imported(library, forged(archive, "versions.jsonl", **fields))
    assert (report.items, report.versions, report.failed) == (1, 0, 1)
    assert (report.problems[0].file, report.problems[0].line) == ("versions.jsonl", 1)
    assert get_skill(library, Item.objects.get().pk).content


def test_a_unit_is_only_a_version_of_its_own_type(library: Access) -> None:
    contribute_knowledge(library, unit=TRACE, visibility="network")
    archive = exported(library)
    wipe(library)
    assert imported(library, forged(archive, "versions.jsonl", document=PATTERN)).versions == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"type": "task", "attributes": {"status": "asleep"}}, "status"),
        ({"type": "task", "attributes": {"project": "mine"}}, "UUID"),
        ({"type": "rule", "attributes": {"mood": "good"}}, "mood"),
        ({"type": "skill", "attributes": {"allowed_tools": 7}}, "allowed_tools"),
        ({"type": "expert_sop", "attributes": {"domain": {"a": 1}}}, "domain"),
        ({"quarantined": False}, "quarantined"),
    ],
)
def test_attributes_that_their_type_does_not_have_are_refused(
    library: Access, fields: dict[str, Any], why: str
) -> None:
    memory(library, "A rule", entity_type="rule")
    archive = exported(library)
    wipe(library)
    [reason] = reasons(forged(archive, "items.jsonl", **fields), library)
    assert why in reason


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "married_to"},
        {"weight": 1.5},
        {"weight": -0.1},
        {"valid_from": "yesterday"},
        {"target_id": str(UUID(int=1))},
        {"owner_id": 1},
    ],
    ids=str,
)
def test_a_relation_that_breaks_a_rule_is_left_out_and_told(
    library: Access, fields: dict[str, Any]
) -> None:
    one, two = memory(library, "One"), memory(library, "Two")
    relate(library, one.pk, two.pk)
    archive = exported(library)
    wipe(library)
    report = imported(library, forged(archive, "relations.jsonl", **fields))
    assert (report.items, report.relations, report.failed) == (2, 0, 1)
    assert report.problems[0].line == 1


def test_relations_to_oneself_twice_or_to_no_project_are_not_made(library: Access) -> None:
    one, two = memory(library, "One"), memory(library, "Two")
    relation = relate(library, one.pk, two.pk)
    archive = exported(library)
    wipe(library)

    def more(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        [line] = found
        return [
            line,
            {**line, "id": str(UUID(int=1))},
            {**line, "id": str(UUID(int=2)), "target_id": line["source_id"]},
            {**line, "id": str(UUID(int=3)), "type": "belongs_to"},
        ]

    report = imported(library, with_lines(archive, "relations.jsonl", more))
    assert (report.relations, report.failed) == (1, 2)
    assert Relation.objects.get().pk == relation.pk


@each_case(
    "fields",
    [
        {"start_url": "file:///etc/passwd"},
        {"start_url": "http://"},
        {"include": ["no slash"]},
        {"exclude": ["/x"] * 51},
        {"depth": 9},
        {"max_pages": 100_000},
        {"pages": [{"key": "k", "url": "javascript:1", "depth": 0, "rank": 0, "state": "kept"}]},
        {"state": "crawling"},
    ],
)
def test_a_source_that_breaks_a_rule_is_left_out_and_told(
    library: Access, fields: dict[str, Any]
) -> None:
    crawled_source(library)
    archive = exported(library)
    wipe(library)
    report = imported(library, forged(archive, "sources.jsonl", **fields))
    assert (report.sources, report.failed, report.problems[0].line) == (0, 1, 1)


def test_pages_of_another_site_and_headers_that_cannot_be_sent_are_not_taken(
    library: Access,
) -> None:
    crawled_source(library)
    archive = exported(library)
    wipe(library)

    def forge(found: list[dict[str, Any]]) -> None:
        pages = found[0]["pages"]
        pages[0]["url"] = "https://elsewhere.example/"
        pages[1]["etag"] = 'x"\r\nCookie: a=b'
        pages[1]["last_modified"] = "ü"

    imported(library, with_lines(archive, "sources.jsonl", forge))
    page = SourcePage.objects.get()
    assert (page.etag, page.last_modified) == ("", "")


def test_a_page_whose_item_is_missing_is_read_anew(library: Access) -> None:
    crawled_source(library)
    parts = members(exported(library))
    wipe(library)
    imported(library, rezipped({**parts, "items.jsonl": b"", "contents.jsonl": b""}))
    assert set(SourcePage.objects.values_list("state", "etag")) == {("queued", "")}
    assert not SourcePage.objects.exclude(item=None).exists()


def test_a_source_of_the_same_name_is_the_same_source(library: Access, theirs: Access) -> None:
    crawled_source(library)
    Source.objects.create(
        owner_id=theirs.owner_id, name="THE MANUAL", start_url="https://theirs.example/"
    )
    assert imported(theirs, exported(library)).sources == 0


def test_sources_of_one_name_that_no_token_saw_together_all_come_back(
    library: Access, theirs: Access, mint: Mint
) -> None:
    for name in ("Here", "There"):
        shelf = shelves.create_folder(library, name)
        add_source(mint(shelf).access, name="Manual", start_url=f"https://{name}.example/")
    archive = exported(library)
    assert imported(theirs, archive).sources == 2
    assert imported(theirs, archive).sources == 0
    assert {*Source.objects.visible_to(theirs).values_list("name", "folder__name")} == {
        ("Manual", "Here"),
        ("Manual", "There"),
    }
    Source.objects.visible_to(theirs).filter(folder__name="There").delete()
    assert imported(theirs, archive).sources == 1


def test_a_project_out_of_reach_is_not_exported_and_its_task_comes_back_without(
    library: Access, theirs: Access, mint: Mint
) -> None:
    shelf = shelves.create_folder(library, "Shelf")
    hidden = project(library, "Hidden")
    filed = task(library, "Lay the ground", hidden, priority="high")
    file_item(library, filed.pk, [shelf.pk])
    archive = exported(mint(shelf).access)
    assert str(hidden.pk) not in str(members(archive))
    assert imported(theirs, archive).failed == 0
    kept = Item.objects.get(owner_id=theirs.owner_id, type="task")
    assert kept.attributes == {"status": "backlog", "priority": "high"}
