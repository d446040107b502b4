"""Client ID metadata documents, fetched by the guarded client and by nothing else."""

import json
from typing import Any

from oauth2_provider import cimd

from knowledge.errors import IngestFailed
from knowledge.sources.http import stream
from tokens.oauth.redirects import is_acceptable

_LARGEST = 16 * 1024
_SECONDS = 5


class GuardedFetcher:
    """Fetches a client's document: https only, no redirect, no private address, no large answer."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """The document and for how many seconds it holds; the toolkit compares its client_id."""
        try:
            cimd._validate_client_id_url(client_id)
            with stream(
                client_id,
                headers={"Accept": "application/json"},
                max_bytes=_LARGEST,
                seconds=_SECONDS,
                any_status=True,
                max_redirects=0,
            ) as (answer, pieces):
                body = b"".join(pieces)
        except (IngestFailed, ValueError) as error:
            raise cimd.CIMDError(str(error)) from None
        is_json = answer.media_type == "application/json" or answer.media_type.endswith("+json")
        if answer.status != 200 or answer.url != client_id or not is_json:
            raise cimd.CIMDError("The client_id is not the address of a JSON document.")
        return _read_document(body), cimd._effective_max_age(answer.headers.get("cache-control"))


def _read_document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        raise cimd.CIMDError("The client's document is not JSON.") from None
    if not isinstance(document, dict) or not isinstance(document.get("redirect_uris"), list):
        raise cimd.CIMDError("The client's document names no redirect URIs.")
    accepted = [u for u in document["redirect_uris"] if isinstance(u, str) and is_acceptable(u)]
    grants = document.get("grant_types", ["authorization_code"])
    if not accepted or "authorization_code" not in grants:
        raise cimd.CIMDError("The client's document has no redirect URI that can be accepted.")
    name = str(document.get("client_name", ""))[:100]
    usable = {"redirect_uris": accepted, "grant_types": ["authorization_code"], "client_name": name}
    return {**document, **usable}
