import pytest

from knowledge import errors
from knowledge.errors import CapabilityDenied, InvalidToken, QuarryError, QuotaExceeded, RateLimited
from mcp_gateway.errors import JSON_RPC_CODES, error_data

EVERY_ERROR = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, QuarryError)
]


def test_every_error_of_the_domain_has_a_code_and_no_code_is_left_over() -> None:
    assert {kind.code for kind in EVERY_ERROR} == JSON_RPC_CODES.keys()


@pytest.mark.parametrize(
    ("codes", "json_rpc"),
    [
        ({"invalid_body", "invalid_id", "forbidden_binary"}, -32602),
        ({"name_taken", "conflict", "payload_too_large", "unsupported_media"}, -32602),
        ({"quota_exceeded", "capability_denied", "forbidden_scope", "not_found"}, -32603),
        ({"ingest_failed", "provider_unavailable", "internal_error"}, -32603),
        ({"rate_limited"}, -32605),
        ({"method_not_allowed"}, -32601),
    ],
)
def test_codes_are_the_documented_ones(codes: set[str], json_rpc: int) -> None:
    assert {JSON_RPC_CODES[code] for code in codes} == {json_rpc}


def test_data_carries_the_code_and_the_details() -> None:
    denied = CapabilityDenied("No.", required=["write"], have=["read"])
    assert error_data(denied) == {
        "error": "capability_denied",
        "required": ["write"],
        "have": ["read"],
    }
    limited = RateLimited("Wait.", retry_after_sec=9, limit=1)
    assert error_data(limited) == {"error": "rate_limited", "retry_after_sec": 9, "limit": 1}


def test_quota_and_token_errors_tell_their_http_status() -> None:
    assert error_data(QuotaExceeded("Over.", tier="free"))["http_status"] == 402
    assert error_data(InvalidToken("Revoked."))["http_status"] == 401
