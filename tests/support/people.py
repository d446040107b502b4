"""A person with something on every page of their account, and the addresses of those pages."""

import re
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn.internal.auth import WebAuthn
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import ec
from django.contrib.auth.models import User
from django.test import Client
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from accounts.invitations import invite
from knowledge.access import Access
from knowledge.library.items import create_folder
from tests.support.oauth import Connector
from tests.support.routes import pages_for_people
from tokens.minting import TokenRequest, mint_token
from tokens.models import Token

PASSWORD = "quarry-stone-42"
OIDC = {
    "provider_id": "oidc",
    "name": "single sign-on",
    "client_id": "quarry",
    "settings": {"server_url": "https://id.example.org"},
}
"""An OpenID provider that is never asked."""


def furnish_account(person: User) -> None:
    """A folder, a token, a connection, a mail address, and every kind of second factor."""
    create_folder(Access.whole_library(person.pk), "Herons")
    mint_token(person, TokenRequest(name="Laptop", folder_ids=None))
    Connector(person).connect()
    EmailAddress.objects.create(user=person, email="second@example.org")
    SocialAccount.objects.create(user=person, provider="openid_connect", uid="1001")
    WebAuthn.add(person, "Phone", _credential())
    TOTP.activate(person, "JBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(person)


def _credential() -> dict[str, Any]:
    """What a browser answers when a passkey is made."""
    key = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    attested = AttestedCredentialData.create(bytes(16), b"a-credential", key)
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV | AuthenticatorData.FLAG.AT
    data = AuthenticatorData.create(bytes(32), flags, 0, attested)
    response = {
        "clientDataJSON": CollectedClientData.create("webauthn.create", b"x", "http://localhost"),
        "attestationObject": AttestationObject.create("none", data, {}),
    }
    encoded = websafe_encode(b"a-credential")
    return {
        "id": encoded,
        "rawId": encoded,
        "type": "public-key",
        "response": {name: websafe_encode(value) for name, value in response.items()},
        "clientExtensionResults": {"credProps": {"rk": True}},
    }


def addresses_for(person: User) -> dict[str, str]:
    """Every page for people by its template, with ids of this person's own in it."""
    return {template: _filled(template, person) for template in pages_for_people()}


def _filled(template: str, person: User) -> str:
    if template == "/oauth/authorize":
        return Connector(person).address(resource=None)  # whichever host it is asked at
    address = EmailAddress.objects.filter(user=person).first()
    token = Token.objects.filter(owner=person).first()
    passkey = Authenticator.objects.filter(user=person).first()
    values = {
        "secret": invite(None)[1].rpartition("/")[2],
        "token_id": token.pk if token else "00000000-0000-0000-0000-000000000000",
        "pk": passkey.pk if passkey else 1,
        "provider_id": "oidc",
        "uidb36": user_pk_to_url_str(person),
        "key": EmailConfirmationHMAC(address).key if address else "made-up",
    }
    if "<uidb36>" in template:
        values["key"] = default_token_generator.make_token(person)
    return re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), template)


def browser_of(person: User) -> Client:
    """Signed in, and asked for the password again a moment ago."""
    client = Client()
    client.force_login(person)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client
