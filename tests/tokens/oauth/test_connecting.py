"""A client connects by OAuth: what it gets, what it is refused, and how it ends."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from knowledge.access import Access
from knowledge.library.items import create_folder, file_item
from tests.support.library import Add, Mint
from tests.support.oauth import CALLBACK, RESOURCE, Connector, register
from tokens.models import Grant, Token
from tokens.oauth import connections


@pytest.fixture
def connector(owner: User) -> Connector:
    return Connector(owner)


def test_the_metadata_stand_in_both_forms(client: Client) -> None:
    for path in ("", "/mcp"):
        resource = client.get(f"/.well-known/oauth-protected-resource{path}").json()
        assert resource["resource"] == RESOURCE
        assert resource["authorization_servers"] == ["http://testserver"]
        server = client.get(f"/.well-known/oauth-authorization-server{path}").json()
        assert server["issuer"] == "http://testserver"
        assert server["code_challenge_methods_supported"] == ["S256"]
        assert server["grant_types_supported"] == ["authorization_code", "refresh_token"]
        assert "none" in server["token_endpoint_auth_methods_supported"]
        assert server["client_id_metadata_document_supported"] is True
        assert server["authorization_response_iss_parameter_supported"] is True
        assert resource["bearer_methods_supported"] == ["header"]


def test_the_metadata_name_the_public_address(client: Client, settings: Any) -> None:
    settings.QUARRY_PUBLIC_URL = "https://kb.example.org"
    server = client.get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == "https://kb.example.org"
    assert server["token_endpoint"] == "https://kb.example.org/oauth/token"


def test_behind_a_proxy_everything_is_for_the_public_address(
    owner: User, settings: Any, client: Client
) -> None:
    public = "https://kb.example.org"
    settings.QUARRY_PUBLIC_URL = public
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "OIDC_ISS_ENDPOINT": public}
    connector = Connector(owner)
    answer = connector.consent(asked={"resource": f"{public}/mcp"})
    brought = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert brought["iss"] == [public]
    assert connector.exchange(brought["code"][0], resource=f"{public}/mcp/").status_code == 200
    assert AccessToken.objects.get().resource == [f"{public}/mcp"]
    assert connector.get("whoami").status_code == 200
    told = client.get("/api/v1/whoami").headers["WWW-Authenticate"]
    assert f'resource_metadata="{public}/.well-known/oauth-protected-resource/mcp"' in told
    refused = connector.browser.get(connector.address())  # for the address behind the proxy
    assert "error=invalid_target" in refused.headers["Location"]


def test_a_token_in_the_address_is_no_token(connector: Connector, mint: Mint) -> None:
    connector.connect()
    for secret in (connector.tokens["access_token"], mint().secret):
        for name in ("access_token", "token"):
            assert Client().get(f"/api/v1/whoami?{name}={secret}").status_code == 401


def test_the_page_names_the_client_and_where_it_sends_the_person(connector: Connector) -> None:
    page = connector.browser.get(connector.address()).content.decode()
    assert "Connect Walker?" in page
    assert "nobody has checked it" in page
    assert "<strong>localhost:3030</strong>, a program on this computer" in page


def test_scopes_that_are_not_known_are_left_out(connector: Connector) -> None:
    asked = {"scope": "openid kb:read offline_access kb:write"}
    connector.connect(asked=asked, can_write="on")
    assert connector.tokens["scope"] == "kb:read kb:write"
    connector.connect(asked={"scope": "openid profile"})
    assert connector.tokens["scope"] == "kb:read"


def test_a_refusal_over_rest_names_the_metadata(client: Client, db: None) -> None:
    told = client.get("/api/v1/whoami").headers["WWW-Authenticate"]
    named = 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"'
    assert named in told
    assert "error=" not in told
    bad = client.get("/api/v1/whoami", headers={"Authorization": "Bearer qra_nothing"})
    assert bad.status_code == 401
    assert 'error="invalid_token"' in bad.headers["WWW-Authenticate"]


def test_a_connection_reaches_the_chosen_folder_alone(
    connector: Connector, add: Add, owner: User
) -> None:
    library = Access.whole_library(owner.pk)
    shelf = create_folder(library, "Chosen")
    inside, outside = add("Inside the folder"), add("Outside of it")
    file_item(library, inside.pk, [shelf.pk])
    connector.connect(reach="folders", folder_ids=[str(shelf.pk)])
    assert connector.tokens["scope"] == "kb:read"
    assert connector.get(f"items/{inside.pk}").status_code == 200
    assert connector.get(f"items/{outside.pk}").status_code == 404
    me = connector.get("whoami").json()
    assert [folder["name"] for folder in me["folders"]] == ["Chosen"]
    assert me["capabilities"] == ["read"]
    token = Token.objects.get(client__client_id=connector.client_id)
    assert token.name == "Walker"
    assert not token.prefix


def test_a_connection_that_only_reads_is_told_what_it_lacks(connector: Connector) -> None:
    connector.connect()
    answer = connector.post("ingest", {"kind": "text", "title": "No", "text": "nothing " * 20})
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
    assert 'scope="kb:read kb:write"' in answer.headers["WWW-Authenticate"]


def test_a_connection_may_write_if_the_person_says_so(connector: Connector) -> None:
    connector.connect(can_write="on")
    assert connector.tokens["scope"] == "kb:read kb:write"
    assert connector.post("folders", {"name": "Made by a client"}).status_code == 201


def test_write_is_not_offered_to_a_client_that_asked_to_read(connector: Connector) -> None:
    answer = connector.consent(asked={"scope": "kb:read"}, can_write="on")
    assert answer.status_code == 302
    assert Grant.objects.get().reach["can_write"] is False


def test_the_answer_names_the_issuer_and_the_state(connector: Connector) -> None:
    sent_to = connector.consent().headers["Location"]
    assert sent_to.startswith(f"{CALLBACK}?code=")
    assert "state=some-state" in sent_to
    assert "iss=http%3A%2F%2Ftestserver" in sent_to


def test_whoever_cancels_connects_nothing(connector: Connector) -> None:
    sent_to = connector.consent(allow="").headers["Location"]
    assert "error=access_denied" in sent_to
    assert not Grant.objects.exists()


def test_consent_is_asked_each_time_whatever_the_client_says(connector: Connector) -> None:
    connector.connect()
    page = connector.browser.get(connector.address(approval_prompt="auto"))
    assert page.status_code == 200
    assert b"Connect Walker?" in page.content


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"reach": "folders"}, "at least one folder"),
        ({"toolsets": []}, "at least one group"),
        ({"reach": "everything"}, "Select a valid choice"),
        ({"folder_ids": ["00000000-0000-0000-0000-000000000000"]}, "not one of the available"),
    ],
)
def test_a_choice_that_is_none_is_told_on_the_page(
    connector: Connector, choices: dict[str, Any], told: str
) -> None:
    answer = connector.consent(**choices)
    assert answer.status_code == 200
    assert told in answer.content.decode()
    assert not Grant.objects.exists()


def test_nobody_gives_away_the_folder_of_another(connector: Connector, stranger: User) -> None:
    theirs = create_folder(Access.whole_library(stranger.pk), "Theirs")
    answer = connector.consent(reach="folders", folder_ids=[str(theirs.pk)])
    assert answer.status_code == 200
    assert b"Theirs" not in answer.content
    assert not Grant.objects.exists()


def test_a_visitor_signs_in_first_and_comes_back(client: Client, connector: Connector) -> None:
    answer = client.get(connector.address())
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/?next=/oauth/authorize")


# What is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"response_type": "token"},
    ],
)
def test_no_code_without_a_proof_key(connector: Connector, changes: dict[str, Any]) -> None:
    page = connector.browser.get(connector.address(**changes))
    if page.status_code == 200:
        page = connector.consent(asked=changes)
    assert page.status_code in (302, 400)
    assert "code=" not in page.headers.get("Location", "")
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    "resource", ["https://elsewhere.example/mcp", "http://testserver/", "http://testserver/mcp/x"]
)
def test_another_resource_is_refused(connector: Connector, resource: str) -> None:
    answer = connector.browser.get(connector.address(resource=resource))
    assert answer.status_code == 302
    assert "error=invalid_target" in answer.headers["Location"]


@pytest.mark.parametrize("resource", [RESOURCE + "/", None])
def test_a_trailing_slash_and_no_resource_mean_the_same(
    connector: Connector, resource: str | None
) -> None:
    code = connector.code(asked={"resource": resource})
    assert connector.exchange(code, resource=RESOURCE + "/").status_code == 200
    assert AccessToken.objects.get().resource == [RESOURCE]


def test_a_code_is_good_once_for_its_client_with_its_verifier(connector: Connector) -> None:
    code = connector.code()
    assert connector.exchange(code, code_verifier="x" * 50).status_code == 400
    elsewhere = connector.exchange(code, resource="https://elsewhere.example/mcp")
    assert (elsewhere.status_code, elsewhere.json()["error"]) == (400, "invalid_target")
    other = register(connector.program).json()["client_id"]
    assert connector.exchange(code, client_id=other).status_code == 400
    assert connector.exchange(code).status_code == 200
    assert connector.exchange(code).status_code == 400
    assert Token.objects.filter(client__client_id=connector.client_id).count() == 1


def test_a_folder_that_is_deleted_before_the_code_is_redeemed_ends_it(
    connector: Connector, owner: User
) -> None:
    folder = create_folder(Access.whole_library(owner.pk), "Soon gone")
    code = connector.code(reach="folders", folder_ids=[str(folder.pk)])
    folder.delete()
    answer = connector.exchange(code)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_grant"
    assert not AccessToken.objects.exists()
    assert not Token.objects.exclude(client=None).exists()


def test_an_unknown_client_is_told_to_register(connector: Connector) -> None:
    refused = (
        connector.exchange("some-code", client_id="unheard-of"),
        connector.refresh("qrr_some-token", client_id="unheard-of"),
    )
    for answer in refused:
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    "change",
    [
        {"resource": []},
        {"resource": ["https://elsewhere.example/mcp"]},
        {"resource": [RESOURCE, "https://elsewhere.example/mcp"]},
        {"expires": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_an_access_token_for_elsewhere_or_over_is_refused(
    connector: Connector, change: dict[str, Any]
) -> None:
    connector.connect()
    assert connector.get("whoami").status_code == 200
    AccessToken.objects.update(**change)
    assert connector.get("whoami").status_code == 401


def test_a_refresh_token_is_no_access_token(connector: Connector) -> None:
    connector.connect()
    assert connector.get("whoami", connector.tokens["refresh_token"]).status_code == 401


def test_no_secret_is_stored(connector: Connector) -> None:
    connector.connect()
    held = {connector.tokens["access_token"], connector.tokens["refresh_token"]}
    assert not AccessToken.objects.filter(token__in=held).exists()
    assert not RefreshToken.objects.filter(token__in=held).exists()


# How it goes on, and how it ends -----------------------------------------------------------


def test_refreshing_rotates_and_a_reused_token_ends_the_connection(connector: Connector) -> None:
    first = dict(connector.connect().tokens)
    second = connector.refresh().json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["scope"] == first["scope"]
    assert connector.get("whoami", first["access_token"]).status_code == 401
    assert connector.get("whoami", second["access_token"]).status_code == 200
    assert Token.objects.filter(client__client_id=connector.client_id).count() == 1
    reused = connector.refresh(first["refresh_token"])
    assert reused.status_code == 400
    assert reused.json()["error"] == "invalid_grant"
    assert connector.get("whoami", second["access_token"]).status_code == 401
    assert connector.refresh(second["refresh_token"]).status_code == 400
    assert Token.objects.get(client__client_id=connector.client_id).state == "revoked"


def test_a_client_that_asks_for_less_gets_less(connector: Connector) -> None:
    connector.connect(can_write="on")
    connector.tokens = connector.refresh(scope="kb:read").json()
    assert connector.get("whoami").json()["capabilities"] == ["read"]


def test_a_connection_lives_while_it_is_renewed(connector: Connector) -> None:
    connector.connect()
    with time_machine.travel(timezone.now() + timedelta(days=20), tick=True):
        connector.tokens = connector.refresh().json()
    with time_machine.travel(timezone.now() + timedelta(days=40), tick=True):
        connector.tokens = connector.refresh().json()
        assert connector.get("whoami").status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=90), tick=True):
        assert connector.refresh().status_code == 400


def test_a_person_ends_a_connection_from_the_next_call_on(connector: Connector) -> None:
    connector.connect()
    token = Token.objects.get(client__client_id=connector.client_id)
    assert connector.browser.post(f"/connections/{token.pk}/revoke").status_code == 302
    assert connector.get("whoami").status_code == 401
    assert connector.refresh().status_code == 400


def test_a_person_who_is_switched_off_takes_their_clients_along(
    connector: Connector, owner: User
) -> None:
    connector.connect()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert connector.get("whoami").status_code == 401
    assert connector.refresh().status_code == 400


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_client_gives_its_connection_up(connector: Connector, kind: str) -> None:
    connector.connect()
    form = {"token": connector.tokens[kind], "client_id": connector.client_id}
    assert connector.program.post("/oauth/revoke", form).status_code == 200
    assert connector.get("whoami").status_code == 401
    assert Token.objects.get(client__client_id=connector.client_id).state == "revoked"


def test_one_client_does_not_revoke_for_another(connector: Connector, owner: User) -> None:
    connector.connect()
    other = Connector(owner)
    form = {"token": connector.tokens["refresh_token"], "client_id": other.client_id}
    other.program.post("/oauth/revoke", form)
    assert connector.get("whoami").status_code == 200


def test_what_is_over_is_swept_and_what_lives_is_left(connector: Connector, owner: User) -> None:
    connector.connect()
    unused = Connector(owner)
    unused.code()
    with time_machine.travel(timezone.now() + timedelta(days=8), tick=True):
        connections.sweep()
        assert not Grant.objects.exists()
        assert not Application.objects.filter(client_id=unused.client_id).exists()
        connector.tokens = connector.refresh().json()
        assert connector.get("whoami").status_code == 200
