"""What this server decides for itself within the toolkit: audiences, scopes and connections."""

import hashlib
from typing import Any

from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import RefreshToken
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749 import errors

from knowledge.errors import QuarryError
from tokens.models import Grant
from tokens.oauth import connections
from tokens.oauth.redirects import is_acceptable

KNOWN_SCOPES = ("kb:read", "kb:write")


class Validator(OAuth2Validator):  # type: ignore[misc]
    """The toolkit's validator, for one resource and for grants that are rows of our own table."""

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Any, request: Any, *args: Any, **kw: Any
    ) -> bool:
        """Leave out scopes that are not known here; some clients ask for those of OpenID."""
        scopes[:] = [scope for scope in KNOWN_SCOPES if scope in scopes] or ["kb:read"]
        return True

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        is_known = super().validate_redirect_uri(client_id, redirect_uri, request, *args, **kwargs)
        return bool(is_known) and is_acceptable(redirect_uri)

    def _create_authorization_code(self, request: Any, code: Any, expires: Any = None) -> Any:
        """Keep the person's choice with the code, which is turned into a connection later."""
        if not request.code_challenge or request.code_challenge_method != "S256":
            raise errors.InvalidRequestError("PKCE with S256 is required.", request=request)
        grant = super()._create_authorization_code(request, code, expires)
        grant.reach = request.reach
        grant.save(update_fields=["reach"])
        return grant

    def _check_and_set_request_resource(self, request: Any) -> None:
        """Bind the token to this resource; whatever else is asked for is refused."""
        asked = [value for key, value in request.decoded_body or [] if key == "resource" and value]
        if request.grant_type == "refresh_token":
            bound = list(request.refresh_token_instance.resource)
        else:
            grant = Grant.objects.filter(code=request.code, application=request.client).first()
            bound = list(grant.resource) if grant else []
        if not bound or any(value.rstrip("/") not in bound for value in asked):
            raise errors.CustomOAuth2Error(
                error="invalid_target",
                description="This code or token is for another resource.",
                request=request,
            )
        request.resource = bound

    def _create_refresh_token(
        self, request: Any, refresh_token_code: str, access_token: Any, previous: Any
    ) -> Any:
        """Make the family's id that of the connection, so that both end together."""
        if previous is None:
            grant = self._spend_code(request)
            try:
                connection = connections.connect(request.user, request.client, grant.reach)
            except QuarryError as error:  # such as a folder that was deleted since the consent
                raise errors.InvalidGrantError(error.message, request=request) from None
            refresh = RefreshToken(
                user=request.user,
                application=request.client,
                access_token=access_token,
                token_family=connection.pk,
                resource=request.resource,
            )
            self._set_token_value(refresh, refresh_token_code)
            refresh.save()
            return refresh
        connections.prolong(previous.token_family)
        return super()._create_refresh_token(request, refresh_token_code, access_token, previous)

    def _spend_code(self, request: Any) -> Grant:
        """The grant of a code, which nobody else can turn into a connection from now on."""
        rows = Grant.objects.select_for_update()
        grant: Grant | None = rows.filter(code=request.code, application=request.client).first()
        if grant is None or grant.is_expired():
            raise errors.InvalidGrantError(request=request)
        grant.expires = timezone.now()
        grant.save(update_fields=["expires"])
        return grant

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Refuse a token of a dead connection; one that was used before ends its connection."""
        checksum = hashlib.sha256(refresh_token.encode()).hexdigest()
        rows = RefreshToken.objects.filter(token_checksum=checksum, application=client)
        family = rows.values_list("token_family", flat=True).first()
        is_good = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        if is_good and connections.is_alive(family):
            return True
        if family and rows.exclude(revoked=None).exists():
            connections.end(family)
        return False

    def revoke_token(
        self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """A client that gives up either of its tokens has disconnected."""
        checksum = hashlib.sha256(token.encode()).hexdigest()
        mine = RefreshToken.objects.filter(application=request.client)
        family = (
            mine.filter(token_checksum=checksum).values_list("token_family", flat=True).first()
            or mine.filter(access_token__token_checksum=checksum)
            .values_list("token_family", flat=True)
            .first()
        )
        with transaction.atomic():
            super().revoke_token(token, token_type_hint, request, *args, **kwargs)
            connections.end(family)
