"""Calls to every address of the server, with the ids of another's rows of every kind in them.

The addresses come from the URL resolver and the OpenAPI document, so a new one is walked as soon
as it exists, and one with a parameter that `ids_for` does not know fails.
"""

import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.auth.models import User
from django.core.exceptions import FieldError
from django.db.models import Model
from django.test import Client
from django.utils.http import int_to_base36, urlencode
from oauth2_provider.models import Application

from accounts.invitations import invite
from knowledge.models import (
    ArchiveImport,
    Change,
    Content,
    Export,
    Feed,
    FeedEntry,
    Folder,
    Highlight,
    ImportBatch,
    ImportRow,
    Item,
    Provider,
    Relation,
    SavedSearch,
    Source,
    Upload,
    Webhook,
)
from tests.support.admin import furnish
from tests.support.admin_pages import whole_database
from tests.support.edges import MISSING
from tests.support.library import LONG_ENOUGH
from tests.support.oauth import Connector
from tests.support.rollback import rolled_back
from tests.support.routes import every_address, openapi_document
from tokens.models import Token
from tokens.single_use import new_form_id

ASKED, SECRET = "nightjar", "whimbrel"
"""Both are in every text of the other's; the first is searched for, the second looked for."""

MARK = f"{ASKED}-{SECRET}"
PASSWORD = "quarry-stone-42"
CARRIERS = ("session", "token")


OWNERS = (
    "owner",
    "user",
    *(f"{row}__owner" for row in ("source", "webhook", "batch", "feed", "item")),
)
"""Ways from a row to whose it is."""

WITH_NAMES = (Content, Feed, Folder, Item, Provider, SavedSearch, Source, Webhook)
"""What has a name, a title or an address that another of the same library could take."""


# The two, and what the other has ------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """Somebody who was let in by a link, with a token and an item of their own."""

    person: User
    browser: Client
    secret: str

    def send(self, carrier: str, call: "Call") -> Any:
        client = Client()
        headers = {}
        if carrier == "session":
            client.cookies = deepcopy(self.browser.cookies)
        else:
            headers["Authorization"] = f"Bearer {self.secret}"
        if call.body is not None:
            body, kind = json.dumps(call.body), "application/json"
        else:
            body, kind = urlencode(call.form or {}, doseq=True), "application/x-www-form-urlencoded"
        return client.generic(call.method, call.address, body, kind, headers=headers)


def let_in(name: str) -> Member:
    """By an invitation's link; the token is minted on the page, and things are added with it."""
    Client().post(invite(None)[1], {"username": name, "password": PASSWORD})
    browser = Client()
    browser.post("/accounts/login/", {"login": name, "password": PASSWORD})
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})  # as some pages ask
    form = {
        "name": "Laptop",
        "reach": "library",
        "can_write": "on",
        "toolsets": ["library", "memory", "registry"],
        "expires_days": "30",
        "form_id": new_form_id(),
    }
    page = browser.post("/connections/new", form).content.decode()
    [secret] = set(re.findall(r"qry_[\w-]{49}", page))
    member = Member(User.objects.get(username=name), browser, secret)
    text = {"kind": "text", "title": f"Of {name}", "text": f"Of {name}.{LONG_ENOUGH}"}
    project = {"title": f"Plan of {name}", "content": "All of it.", "entity_type": "project"}
    for path, body in (("ingest", text), ("memory", project)):
        call = Call("POST", f"/api/v1/{path}", body=body)
        assert member.send("token", call).status_code == 201, path
    return member


@dataclass(frozen=True)
class Pair:
    """Who asks, and whose rows they ask about."""

    me: Member
    them: Member
    their_ids: frozenset[str]
    mine: tuple[Item, ...]
    """What the one who asks has of their own: a text and a project."""

    one_of_a_kind: bool = False
    """Whether an address is asked with one row that fits it, rather than with each there is."""

    def hidden(self, model: type[Model]) -> list[Any]:
        """Rows of the other that the one who asks may not know of."""
        rows = rows_of(self.them.person, model)
        return [row for row in rows if len(str(row.pk)) <= 10 or str(row.pk) in self.their_ids]


def make_members() -> Pair:
    """Two who were let in, one of them with a row of every kind."""
    them, me = let_in(f"{MARK}-person"), let_in("maya")
    furnish(them.person, MARK)
    Item.objects.update(visibility="private")  # what is published is for everybody
    Provider.objects.update(visibility="private")
    Connector(them.person).connect()
    Application.objects.update(name=MARK, redirect_uris=f"https://{MARK}.example/callback")
    EmailAddress.objects.create(user=them.person, email=f"{MARK}@example.org", verified=True)
    Authenticator.objects.create(user=them.person, type="webauthn", data={"name": MARK})
    SocialAccount.objects.create(user=them.person, provider="openid_connect", uid=MARK)
    UserSession.objects.create(
        user=them.person, session_key=MARK, ip="192.0.2.1", user_agent=MARK, data={}
    )
    mine = tuple(rows_of(me.person, Item))
    return Pair(me, them, frozenset(ids_of(them.person)), mine)


def rows_of(person: User, model: type[Model]) -> list[Any]:
    """Their rows of a model, by whichever way it leads to its owner."""
    if model is User:
        return [person]
    for path in OWNERS:
        try:
            return list(model._base_manager.filter(**{path: person}))
        except FieldError:
            continue
    return []


def ids_of(person: User) -> Iterator[str]:
    """The ids of all their rows, where an id can be told from any other number."""
    for model in apps.get_models():
        yield from (str(row.pk) for row in rows_of(person, model) if len(str(row.pk)) > 10)


def snapshot(person: User) -> list[str]:
    """Every row of the database that is the other's."""
    ids = [str(row.pk) for row in rows_of(person, Token)]
    return sorted(
        line
        for line in whole_database().splitlines()
        if any(word in line for word in (SECRET, *ids))
    )


# What is asked ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    method: str
    address: str
    body: dict[str, Any] | None = None
    form: dict[str, Any] | None = None


def ids_for(parameter: str, template: str, pair: Pair) -> list[Any]:
    """What of the other's a parameter of this name can hold; what it cannot know is a KeyError."""
    if found := re.match(r"/admin/(?!r/)(\w+)/(\w+)/<", template):
        model = apps.get_model(found[1], found[2])
        return [row.pk for row in pair.hidden(model) or model._base_manager.all()]
    if parameter == "provider_id" and template.startswith("/accounts/"):
        return ["oidc"]
    models: dict[str, type[Model]] = {
        **dict.fromkeys(("item_id", "task_id", "entity_id", "target_id", "object_id"), Item),
        **dict.fromkeys(("project", "depends_on"), Item),
        **dict.fromkeys(("folder_id", "folder_ids"), Folder),
        "relation_id": Relation,
        "source_id": Source,
        "webhook_id": Webhook,
        "token_id": Token,
        "provider_id": Provider,
        "upload_id": Upload,
        "pk": Authenticator,
        "batch_id": ImportBatch,
        "row_id": ImportRow,
        "feed_id": Feed,
        "entry_id": FeedEntry,
        "highlight_id": Highlight,
        "search_id": SavedSearch,
        "change_id": Change,
        "import_id": ArchiveImport,
        "export_id": Export,
        "action_id": Token,  # an action in the console is undone as a token's writes are
    }
    words = {
        **dict.fromkeys(("agent_id", "key"), MARK),
        "secret": MARK,  # what is stored of a link does not open it
        "uidb36": int_to_base36(pair.them.person.pk),
        "name": "common",
        "app_label": "knowledge",
        "url": "nothing",
        "content_type_id": "1",
        "action": "archive",
        **dict.fromkeys(("number", "page"), 0),
    }
    if parameter in words:
        return [words[parameter]]
    rows = pair.hidden(models[parameter])
    if pair.one_of_a_kind and models[parameter] is Item:
        rows = [row for row in rows if row.type == _type_at(template)]
    assert rows, parameter
    return [row.pk for row in rows][: 1 if pair.one_of_a_kind else None]


def hidden_texts(field: str, pair: Pair) -> list[str]:
    """What a row of the other's of each kind has in the column that is called as a field is."""
    rows = (next(iter(pair.hidden(model)), None) for model in WITH_NAMES)
    texts = (getattr(row, field, None) for row in rows)
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text))


def _type_at(template: str) -> str:
    """The type of item that an address is about."""
    types = {"/skills/": "skill", "/knowledge/": "expert_sop", "/tasks/": "task"}
    return next((types[part] for part in types if part in template), "document")


def nobodys(value: Any) -> Any:
    """An id of the same form that is nobody's."""
    if isinstance(value, int):
        return value + 1_000_000
    is_uuid = re.fullmatch(r"[0-9a-f-]{36}", str(value))
    return MISSING if is_uuid else "zzzzz"


Twins = tuple[Call, Call]
"""The same call, about something of the other's and about what does not exist."""


def filled(template: str, pair: Pair) -> Iterator[tuple[str, str]]:
    """The address with each of the other's ids in it, and with one that is nobody's."""
    names = re.findall(r"[<{](\w+)[>}]", template)
    choices = {name: ids_for(name, template, pair) for name in names}
    for turn in range(max((len(values) for values in choices.values()), default=1)):
        theirs = {name: values[turn % len(values)] for name, values in choices.items()}
        missing = {name: nobodys(value) for name, value in theirs.items()}
        yield _put_in(template, theirs), _put_in(template, missing)


def _put_in(template: str, values: dict[str, Any]) -> str:
    return re.sub(r"[<{](\w+)[>}]", lambda found: str(values[found[1]]), template)


def page_calls(template: str, pair: Pair) -> Iterator[Twins]:
    """Looked at and sent, as browsers do, with every field that names something of somebody's."""
    them = pair.them.person
    for theirs, missing in filled(template, pair):
        yield Call("GET", theirs, form={}), Call("GET", missing, form={})
        yield Call("POST", theirs, form=_form(them)), Call("POST", missing, form=_form(None))


def _form(them: User | None) -> dict[str, Any]:
    """One form for all: what a page does not know it leaves."""
    account = SocialAccount.objects.get()
    folder = Folder.objects.get(owner__username__contains=SECRET)
    return {
        "post": "yes",
        "confirmed": "yes",
        "name": "Mine",
        "expires_days": "9",
        "reach": "folders",
        "toolsets": "library",
        "action_remove": "yes",
        "folder_ids": folder.pk if them else MISSING,
        "account": account.pk if them else nobodys(account.pk),
        "email": f"{MARK}@example.org" if them else "nobody@example.org",
        "login": them.username if them else "nobody",
        "form_id": new_form_id(),
    }


def rest_calls(path: str, method: str, operation: Any, pair: Pair) -> Iterator[Twins]:
    """The documented example, and each id that the call can name beside its address."""
    mine = pair.mine
    body, query = _example(operation, mine), _needed_query(operation)
    for theirs, missing in filled(path, pair):
        yield (
            Call(method, f"{theirs}?{urlencode(query)}", body=body),
            Call(method, f"{missing}?{urlencode(query)}", body=body),
        )
    # An id in the address is looked up first, so the others are asked beside one's own.
    own, _ = next(filled(re.sub(r"{item_id}|{task_id}", str(mine[0].pk), path), pair))
    for name, schema in _body_fields(operation).items():
        for key in ids_for(name, path, pair) if _is_id(schema) else ():
            yield tuple(  # type: ignore[misc]
                Call(method, own, body={**(body or {}), name: _as(schema, value)})
                for value in (key, nobodys(key))
            )
    for name, schema in _entry_fields(operation).items():
        for key in ids_for(name, path, pair) if _is_id(schema) else ():
            yield tuple(  # type: ignore[misc]
                Call(method, own, body={"entries": [{**_entry(body), name: _as(schema, value)}]})
                for value in (key, nobodys(key))
            )
    for name, schema in _body_fields(operation).items():
        for value in hidden_texts(name, pair) if _is_text(schema) else ():
            yield (
                Call(method, own, body={**(body or {}), name: value}),
                Call(method, own, body={**(body or {}), name: f"{value}x"}),
            )
    for name in _id_parameters(operation):
        for key in ids_for(name, path, pair):
            yield tuple(  # type: ignore[misc]
                Call(method, f"{own}?{urlencode({**query, name: value})}", body=body)
                for value in (key, nobodys(key))
            )


def _example(operation: Any, mine: Sequence[Item]) -> dict[str, Any] | None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = list(content.get("examples", {}).values())
    example = dict(examples[0]["value"]) if examples else {}
    [project] = [str(item.pk) for item in mine if item.type == "project"]
    example |= {
        "relate_items": {"target_id": project, "type": "related_to"},
        "remember": {"entity_type": "task", "project": project},
        "search_by_body": {"query": ASKED},
        "search_memory": {"query": ASKED},
    }.get(operation["operationId"], {})
    return example if content else None


def _needed_query(operation: Any) -> dict[str, str]:
    """The other's words wherever words are looked for, and what else a call needs."""
    names = {parameter["name"] for parameter in operation.get("parameters", [])}
    needed = {name: ASKED for name in ("q", "query") if name in names}
    return {**needed, "mode": "related"} if operation["operationId"] == "explore" else needed


def _body_fields(operation: Any) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return _properties(content.get("schema", {}))


def _entry_fields(operation: Any) -> dict[str, Any]:
    """The fields of each entry of a batch."""
    return _properties(_body_fields(operation).get("entries", {}).get("items", {}))


def _entry(body: Any) -> dict[str, Any]:
    """An entry of the documented batch."""
    return dict(body["entries"][0])


def _properties(schema: Any) -> dict[str, Any]:
    if name := schema.get("$ref", "").rpartition("/")[2]:
        schema = openapi_document()["components"]["schemas"][name]
    return dict(schema.get("properties", {}))


def _is_id(schema: Any) -> bool:
    return "uuid" in (schema.get("format"), schema.get("items", {}).get("format"))


def _is_text(schema: Any) -> bool:
    return schema.get("type") == "string" and not {"enum", "format"} & schema.keys()


def _as(schema: Any, value: Any) -> Any:
    return [str(value)] if "items" in schema else str(value)


def _id_parameters(operation: Any) -> list[str]:
    return [
        parameter["name"]
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query" and _is_id(parameter["schema"])
    ]


# What is answered ---------------------------------------------------------------------------


def body_of(answer: Any) -> str:
    if answer.streaming and not hasattr(answer, "read_once"):
        answer.read_once = b"".join(answer.streaming_content)
    body: bytes = answer.read_once if answer.streaming else answer.content
    return body.decode(errors="replace")


def said(answer: Any) -> str:
    return f"{body_of(answer)} {answer.headers}"


def leaks(pair: Pair, text: str, asked: Call) -> list[str]:
    """What of the other's stands in an answer and did not stand in the question."""
    question = json.dumps([asked.address, asked.body, asked.form], default=str)
    if pair.me.person == pair.them.person:
        text = text.replace(pair.me.person.username, "")  # a scoped token knows whose it is
    known = [SECRET, *sorted(pair.their_ids)]
    return [word for word in known if word in text.lower() and word not in question]


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def verdict(answer: Any, text: str) -> str:
    """How a call ended; of a refusal all that it says, but for the id that was asked for."""
    if not text.startswith("{") or answer.status_code < 400:
        return str(answer.status_code)
    told = json.loads(text)
    told.pop("request_id", None)
    return f"{answer.status_code} {_UUID.sub('ID', json.dumps(told))}"


def faults(pair: Pair, who: Member, twins: Iterator[Twins], carrier: str) -> Iterator[str]:
    """Where an answer tells of the other's rows, or differs from that about what does not exist."""
    verdicts: dict[str, str] = {}
    for theirs, missing in twins:
        asked = f"{theirs.method} {theirs.address} by {carrier}"
        with rolled_back():
            answer = who.send(carrier, theirs)
            text = said(answer)
        if found := leaks(pair, text, theirs):
            yield f"{asked} tells {found[:3]}"
        key = repr(missing)
        if key not in verdicts:
            with rolled_back():
                other = who.send(carrier, missing)
                verdicts[key] = verdict(other, body_of(other))
        if (ended := verdict(answer, body_of(answer))) != verdicts[key]:
            yield f"{asked}: {ended}, not {verdicts[key]} as for what is not"


OPERATIONS = [
    (path, method.upper(), operation)
    for path, methods in openapi_document()["paths"].items()
    for method, operation in methods.items()
]
DOCUMENTED = {path.replace("{", "<").replace("}", ">") for path, _, _ in OPERATIONS}
PAGES = sorted(set(every_address()) - DOCUMENTED)
