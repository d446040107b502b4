"""An OpenID provider on this machine: it hands out codes, and redeems them as the standard says."""

import base64
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

CLIENT_ID, CLIENT_SECRET = "quarry-here", "a secret of the provider's"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class OpenIdProvider:
    """Knows one person at a time; what it claims of them can be changed for the worse."""

    server: HTTPServer
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "1001"})
    claims: dict[str, Any] = field(default_factory=dict)
    """What to say in the id_token that is not so."""

    key: rsa.RSAPrivateKey = KEY
    userinfo: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    """The last authorization request."""

    def __post_init__(self) -> None:
        for path, answer in (
            ("/.well-known/openid-configuration", self._configuration),
            ("/keys", self._keys),
            ("/token", self._token),
            ("/userinfo", self._userinfo),
            ("/authorize", self._to_sign_in),
            ("/sign-in", self._back),
        ):
            self.server.expect_request(path).respond_with_handler(answer)

    @property
    def issuer(self) -> str:
        return self.server.url_for("").rstrip("/")

    def authorize(self, address: str) -> dict[str, str]:
        """What a person's browser does with the address it was sent to; what it brings back."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/authorize"
        self.asked = {name: value for name, [value] in parse_qs(parts.query).items()}
        assert self.asked["client_id"] == CLIENT_ID
        assert self.asked["response_type"] == "code"
        assert self.asked["code_challenge_method"] == "S256"
        return {"code": "the-code", "state": self.asked["state"]}

    def _to_sign_in(self, request: Request) -> Response:
        """Many send people on to another host of theirs first."""
        asked = request.query_string.decode()
        return _redirect(f"http://127.0.0.1:{self.server.port}/sign-in?{asked}")

    def _back(self, request: Request) -> Response:
        brought = self.authorize(f"{self.issuer}/authorize?{request.query_string.decode()}")
        return _redirect(f"{self.asked['redirect_uri']}?{urlencode(brought)}")

    def _configuration(self, request: Request) -> Response:
        return _json(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        )

    def _keys(self, request: Request) -> Response:
        public = json.loads(RSAAlgorithm.to_jwk(KEY.public_key()))
        return _json({"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]})

    def _token(self, request: Request) -> Response:
        digest = hashlib.sha256(request.form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_right = (
            request.form["code"] == "the-code"
            and challenge == self.asked["code_challenge"]
            and request.form["client_secret"] == CLIENT_SECRET
            and request.form["redirect_uri"] == self.asked["redirect_uri"]
        )
        if not is_right:
            return Response(json.dumps({"error": "invalid_grant"}), status=400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "sub": self.person["sub"],
            "nonce": self.asked.get("nonce"),
            **self.claims,
        }
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "one"})
        return _json({"access_token": "for-userinfo", "token_type": "Bearer", "id_token": signed})

    def _userinfo(self, request: Request) -> Response:
        assert request.headers["Authorization"] == "Bearer for-userinfo"
        return _json({**self.person, **self.userinfo})


def _redirect(address: str) -> Response:
    return Response(status=302, headers={"Location": address})


def _json(body: dict[str, Any]) -> Response:
    return Response(json.dumps(body), content_type="application/json")
