"""Each two writes that can meet, at once: none answers with a 500, and no rule is broken."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.ingest.adding import add_text
from knowledge.ledger.webhooks import MAX_WEBHOOKS
from knowledge.library.items import file_item
from knowledge.memory import remembering
from knowledge.models import (
    Chunk,
    Content,
    Folder,
    Provider,
    Relation,
    Source,
    Webhook,
)
from tests.support.judged_contributions import TRACE, publish
from tests.support.library import LONG_ENOUGH, Mint, Minted
from tests.support.pairs import Call, run_pair
from tests.support.routes import openapi_document

pytestmark = pytest.mark.django_db(transaction=True)

HOOK = "https://example.org/hook"
SITE = "https://docs.example.org/"


class Stage:
    """What the writes of one pair are about; each row is made when a write first names it."""

    def __init__(self, token: Minted, name: str) -> None:
        self.token, self.name = token, name
        self.access, self.owner = token.access, token.row.owner
        self.text = f"granite for {name}{LONG_ENOUGH}"

    @cached_property
    def folder(self) -> str:
        return self._make(Folder, name=f"{self.name} one")

    @cached_property
    def other_folder(self) -> str:
        return self._make(Folder, name=f"{self.name} two")

    @cached_property
    def item(self) -> str:
        item = add_text(self.access, title=self.name, text=self.text)
        file_item(self.access, item.pk, [UUID(self.folder)])
        return str(item.pk)

    @cached_property
    def project(self) -> str:
        return self._remember("project")

    @cached_property
    def task(self) -> str:
        return self._remember("task", project=self.project)

    @cached_property
    def other_task(self) -> str:
        return self._remember("task", project=self.project)

    @cached_property
    def relation(self) -> str:
        ends = {"source_id": self.task, "target_id": self.other_task}
        return self._make(Relation, **ends)

    @cached_property
    def source(self) -> str:
        return self._make(Source, name="A site", start_url=SITE)

    @cached_property
    def provider(self) -> str:
        now = timezone.now()
        fields = {"agent_id": self.name, "capabilities": ["cut"], "last_seen_at": now}
        return self._make(Provider, name=self.name, **fields)

    @cached_property
    def webhook(self) -> str:
        rows = [Webhook(owner=self.owner, url=HOOK) for _ in range(MAX_WEBHOOKS - 1)]
        return str(Webhook.objects.bulk_create(rows)[0].pk)

    @cached_property
    def unit(self) -> str:
        return str(publish(self.token, {**TRACE, "id": self.name.replace(" ", "-")}).pk)

    def clear(self) -> None:
        """Away with what the next pair would count or find under its name."""
        for rows in (Webhook, Provider, Source, Folder):
            rows.objects.filter(owner=self.owner).delete()

    def _make(self, model: Any, **fields: Any) -> str:
        return str(model.objects.create(owner=self.owner, **fields).pk)

    def _remember(self, kind: str, **more: Any) -> str:
        answer = remembering.add(
            self.access, title=self.name, content=self.text, entity_type=kind, **more
        )
        return str(answer.item.pk)


Write = Callable[[Stage], Call]

LIBRARY: dict[str, Write] = {
    "ingest": lambda s: (
        "POST",
        "ingest",
        {"kind": "text", "title": "New", "text": s.text, "folder_id": s.folder},
    ),
    "update_item": lambda s: ("PATCH", f"items/{s.item}", {"title": "Other", "in_kb": False}),
    "delete_item": lambda s: ("DELETE", f"items/{s.item}", {}),
    "file_item": lambda s: (
        "POST",
        f"items/{s.item}/folders",
        {"folder_ids": [s.folder, s.other_folder]},
    ),
    "unfile_item": lambda s: ("DELETE", f"items/{s.item}/folders/{s.folder}", {}),
    "retry_item": lambda s: ("POST", f"items/{s.item}/retry", {}),
    "transform_item": lambda s: ("POST", f"items/{s.item}/transform", {}),
    "create_folder": lambda s: ("POST", "folders", {"name": "Brand new"}),
    "rename_folder": lambda s: ("PATCH", f"folders/{s.other_folder}", {"name": "Brand new"}),
    "delete_folder": lambda s: ("DELETE", f"folders/{s.other_folder}?cascade_items=true", {}),
}
MEMORY: dict[str, Write] = {
    "remember": lambda s: (
        "POST",
        "memory",
        {"title": "Learned", "content": s.text, "related_to": [f"supersedes:{s.task}"]},
    ),
    "manage_task": lambda s: (
        "POST",
        f"tasks/{s.task}/moves",
        {"action": "update_task", "data": {"depends_on": [s.other_task]}},
    ),
    "relate_items": lambda s: (
        "POST",
        f"items/{s.other_task}/relations",
        {"target_id": s.task, "type": "depends_on"},
    ),
    "end_relation": lambda s: ("DELETE", f"relations/{s.relation}", {}),
    "delete_item": lambda s: ("DELETE", f"items/{s.task}", {}),
}
SOURCES: dict[str, Write] = {
    "add_source": lambda s: (
        "POST",
        "sources",
        {"name": "Docs", "start_url": SITE, "folder_id": s.folder},
    ),
    "delete_folder": lambda s: ("DELETE", f"folders/{s.folder}?cascade_items=true", {}),
    "update_source": lambda s: ("PATCH", f"sources/{s.source}", {"name": "Docs"}),
    "delete_source": lambda s: ("DELETE", f"sources/{s.source}", {}),
    "crawl_source": lambda s: ("POST", f"sources/{s.source}/crawls", {}),
}
REGISTRY: dict[str, Write] = {
    "contribute_knowledge": lambda s: (
        "POST",
        "knowledge",
        {"unit": {**TRACE, "id": f"again-{s.unit}"}, "visibility": "network"},
    ),
    "validate_unit": lambda s: ("POST", f"knowledge/{s.unit}/validations", {"valid": True}),
    "report_unit": lambda s: ("POST", f"knowledge/{s.unit}/reports", {"feedback": "It fails."}),
    "update_item": lambda s: ("PATCH", f"items/{s.unit}", {"visibility": "private"}),
    "delete_item": lambda s: ("DELETE", f"items/{s.unit}", {}),
}
OFFERS: dict[str, Write] = {
    "register_provider": lambda s: (
        "POST",
        "providers",
        {"name": "Mason", "capabilities": ["cut granite"]},
    ),
    "update_provider": lambda s: ("PATCH", f"providers/{s.provider}", {"name": "Other"}),
    "delete_provider": lambda s: ("DELETE", f"providers/{s.provider}", {}),
    "provider_heartbeat": lambda s: ("POST", f"providers/{s.provider}/heartbeats", {}),
}
WEBHOOKS: dict[str, Write] = {
    "create_webhook": lambda s: ("POST", "webhooks", {"url": HOOK}),
    "delete_webhook": lambda s: ("DELETE", f"webhooks/{s.webhook}", {}),
}
GROUPS = {
    "library": LIBRARY,
    "memory": MEMORY,
    "sources": SOURCES,
    "registry": REGISTRY,
    "offers": OFFERS,
    "webhooks": WEBHOOKS,
}
ELSEWHERE = {
    "begin_upload": "it makes a row that nobody else knows yet",
    "finish_upload": "raced by the tests of uploads",
    "finish_document_upload": "raced by the tests of uploads",
    "import_library": "it makes a row that nobody else knows yet; jobs take turns by a lock",
    "start_export": "it makes a row that nobody else knows yet; counted under a lock",
    "cancel_import": "one update of one row",
    "mint_token": "it makes a row that nobody else knows yet",
    "revoke_token": "one update of one row",
    "narrow_connection": "one update of one row",
    "revoke_connection": "one update of one row",
    "contribute_skill": "the same function as a unit's",
    "report_skill": "the same function as a unit's",
    "validate_skill": "the same function as a unit's",
    "ingest_batch": "each of its texts is added by the function that adds one",
    "remember_batch": "each of its memories is added by the function that adds one",
    "build_context": "it only reads",
    "search_memory": "it only reads",
    "search_by_body": "it only reads",
}


def test_every_write_meets_others_here_or_says_why_not() -> None:
    written = {
        operation["operationId"]
        for methods in openapi_document()["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }
    assert written == {name for group in GROUPS.values() for name in group} | set(ELSEWHERE)


@pytest.mark.parametrize("group", GROUPS)
def test_no_two_writes_at_once_end_in_a_500_or_break_a_rule(group: str, mint: Mint) -> None:
    tokens = [mint(name="one"), mint(name="other")]
    writes = GROUPS[group]
    broken = []
    for one, other in _pairs(writes):
        stage = Stage(tokens[0], f"{one} {other}")
        calls = (tokens[0], writes[one](stage)), (tokens[1], writes[other](stage))
        outcomes = run_pair(*calls)
        faults = [each.problem for each in outcomes if each.is_broken]
        if faults := faults + _broken_rules():
            broken.append((one, other, faults))
        stage.clear()
    assert broken == []


def test_of_two_webhooks_at_once_only_the_one_that_there_is_room_for_is_made(
    mint: Mint, owner: User
) -> None:
    Webhook.objects.bulk_create(Webhook(owner=owner, url=HOOK) for _ in range(MAX_WEBHOOKS - 1))
    one, other = ((mint(name=name), ("POST", "webhooks", {"url": HOOK})) for name in "ab")
    assert [each.status for each in run_pair(one, other)] == [201, 409]
    assert Webhook.objects.count() == MAX_WEBHOOKS


def _pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every two, and each with itself; a deletion comes once before and once after."""
    for one, other in combinations_with_replacement(names, 2):
        yield one, other
        if one != other and ("delete" in one or "delete" in other):
            yield other, one


def _broken_rules() -> list[str]:
    rules = {
        "more webhooks than there may be": Webhook.objects.count() > MAX_WEBHOOKS,
        "a chunk of an item that is not in the knowledge base": Chunk.objects.filter(
            item__in_kb=False
        ).exists(),
        "a content of nobody": Content.objects.filter(items=None, upload=None).exists(),
    }
    return [rule for rule, is_broken in rules.items() if is_broken]
