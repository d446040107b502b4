from uuid import uuid4

import time_machine
from django.contrib.auth.models import User

from knowledge.ledger import quotas
from knowledge.models import Tier, Usage
from tests.support.library import Mint


def test_what_nobody_used_is_nothing(mint: Mint) -> None:
    told = mint(write=False).client.get("/api/v1/usage").json()
    assert told["quota"]["tier"] == "unlimited"
    assert told["quota"]["cap_per_month"] is None
    assert told["this_month"] | {"month": ""} == {
        "month": "",
        "used": 0.0,
        "reserved": 0.0,
        "transforms": 0,
        "answers": 0,
        "answers_cost_usd": 0.0,
    }
    assert told["earlier"] == []


def test_use_is_told_by_month_with_the_tier_and_its_cap(
    mint: Mint, owner: User, stranger: User
) -> None:
    month = {"used": 0.0, "reserved": 0.0, "transforms": 0, "answers": 0, "answers_cost_usd": 0.0}
    answers = {"answers": 2, "answers_cost_usd": "0.5"}
    Tier.objects.create(name="free", minutes_per_month=100, is_default=True)
    Usage.objects.create(owner=owner, month="2026-09-01", transcription_sec_used=90)
    Usage.objects.create(owner=owner, month="2026-10-01", transforms=4, **answers)
    Usage.objects.create(owner=stranger, month="2026-10-01", transcription_sec_used=999)
    with time_machine.travel("2026-11-16"):
        done, under_way = uuid4(), uuid4()
        quotas.reserve(owner.pk, done, 120)
        quotas.settle(done)
        quotas.reserve(owner.pk, under_way, 30)
        told = mint().client.get("/api/v1/usage").json()
    assert told == {
        "quota": {"tier": "free", "cap_per_month": 100, "used": 2.5, "remaining": 97.5},
        "this_month": month | {"month": "2026-11-01", "used": 2.0, "reserved": 0.5},
        "earlier": [
            month | {"month": "2026-10-01", "transforms": 4, "answers": 2, "answers_cost_usd": 0.5},
            month | {"month": "2026-09-01", "used": 1.5},
        ],
    }
