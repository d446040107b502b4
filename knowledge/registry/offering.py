"""Providers: agents that offer capabilities to the others on this server."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput, not_found
from knowledge.ledger import changes
from knowledge.models import Agent, Provider, Visibility
from knowledge.moderation.findings import screen_value
from knowledge.registry.matching import Match, matches, nearness
from knowledge.validation import clean_line, clean_text, one_of, within

MAX_NAME = 200
MAX_DESCRIPTION = 5_000
MAX_ENDPOINT = 2_000
MAX_CAPABILITIES = 50
MAX_CAPABILITY = 100
MAX_WANTED = 500
MAX_LIMIT = 50
STALE_AFTER = timedelta(days=7)
"""Without a sign of life for so long, a provider is not discovered."""

_ASKED_FIRST = 1_000
_BY_REPUTATION = 0.1
"""What a full reputation is worth beside a full fit: so far apart, two fit about equally."""

_OWN_FIELDS = ("name", "description", "endpoint", "capabilities", "visibility")


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider, the reputation of its agent and, when a capability is asked for, how it fits."""

    provider: Provider
    reputation_score: float
    is_stale: bool
    match: Match | None = None

    @property
    def rank(self) -> tuple[float, str, str]:
        fits = self.match.score if self.match else 0.0
        worth = fits + _BY_REPUTATION * self.reputation_score
        return -worth, self.provider.name, str(self.provider.pk)


def discover_providers(
    access: Access, *, capability: str | None = None, limit: int = 10
) -> list[Offer]:
    """Providers of a capability, by how well it fits and how far they are trusted.

    Without one, all of them by reputation. Who gave no sign of life for a week is left out.
    """
    access.require(Capability.READ)
    within(limit, field="limit", low=1, high=MAX_LIMIT)
    if capability is not None:
        capability = clean_text(capability, field="capability", shortest=1, longest=MAX_WANTED)
    fresh = Provider.objects.published_to(access).filter(last_seen_at__gt=_long_ago())
    offers = _offers(fresh.order_by("-last_seen_at", "pk")[:_ASKED_FIRST])
    if capability is not None:
        offers = _rank_offers(capability, offers)
    return sorted(offers, key=lambda offer: offer.rank)[:limit]


def get_provider(access: Access, provider_id: UUID) -> Offer:
    """One provider that is offered to the caller, fresh or stale."""
    access.require(Capability.READ)
    found = _offers(Provider.objects.published_to(access).filter(pk=provider_id))
    if not found:
        raise not_found("provider")
    return found[0]


@transaction.atomic
def register_provider(
    access: Access,
    *,
    name: str,
    capabilities: Collection[str],
    description: str = "",
    endpoint: str = "",
    visibility: str = Visibility.NETWORK,
) -> tuple[Offer, bool]:
    """Offer what the calling agent can do, and whether that is new; again, it takes the place."""
    access.require(Capability.WRITE)
    if not access.agent_id:
        raise InvalidInput("Only an agent registers as a provider; call with its token.")
    fields = _check_fields(
        name=name,
        capabilities=capabilities,
        description=description,
        endpoint=endpoint,
        visibility=visibility,
    )
    given = {"owner_id": access.owner_id, "last_seen_at": timezone.now(), **fields}
    providers = Provider.objects.select_for_update()
    provider, is_new = providers.get_or_create(agent_id=access.agent_id, defaults=given)
    if is_new:
        changes.row_added(access, provider, fields=_OWN_FIELDS)
    else:
        _change(access, provider, fields)
    return get_provider(access, provider.pk), is_new


@transaction.atomic
def update_provider(access: Access, provider_id: UUID, **given: Any) -> Offer:
    """Change what is given of the caller's own provider."""
    access.require(Capability.WRITE)
    provider = _own(access, provider_id)
    _change(access, provider, _check_fields(**given))
    return get_provider(access, provider_id)


@transaction.atomic
def delete_provider(access: Access, provider_id: UUID) -> None:
    """Withdraw the caller's own provider."""
    access.require(Capability.WRITE)
    provider = _own(access, provider_id)
    changes.row_deleted(access, provider)
    provider.delete()


@transaction.atomic
def heartbeat(access: Access, provider_id: UUID) -> Offer:
    """A sign of life of the caller's own provider; it is no change that can be undone."""
    access.require(Capability.WRITE)
    provider = _own(access, provider_id)
    provider.last_seen_at = timezone.now()
    provider.save(update_fields=["last_seen_at"])
    return get_provider(access, provider_id)


def _own(access: Access, provider_id: UUID) -> Provider:
    """The agent's own, or its owner's with a token of the whole library."""
    providers = Provider.objects.select_for_update().of_owner(access)
    if access.folder_ids is not None:
        providers = providers.filter(agent_id=access.agent_id)
    provider = providers.filter(pk=provider_id).first()
    if provider is None:
        raise not_found("provider")
    return provider


def _change(access: Access, provider: Provider, fields: dict[str, Any]) -> None:
    before = {name: changes.as_data(provider)[name] for name in _OWN_FIELDS}
    for name, value in fields.items():
        setattr(provider, name, value)
    provider.last_seen_at = timezone.now()
    provider.save()
    changes.row_changed(access, provider, before)


def _check_fields(**given: Any) -> dict[str, Any]:
    """The fields to set, each within its rule, and none with a secret or an order in it."""
    fields = {name: _RULES[name](value) for name, value in given.items()}
    if findings := screen_value(fields, in_full=True).without_secrets().orders:
        raise InvalidInput(
            f"This reads like orders to a model: {findings[0]['sentence']} "
            "Say what the agent can do, and nothing else.",
            findings=findings,
        )
    return fields


def _capabilities(given: Collection[str]) -> list[str]:
    lines = [clean_line(each, field="capabilities", longest=MAX_CAPABILITY) for each in given]
    kept = list({line.casefold(): line for line in reversed(lines)}.values())[::-1]
    if not 1 <= len(kept) <= MAX_CAPABILITIES:
        raise InvalidInput(
            f"capabilities must name between 1 and {MAX_CAPABILITIES}.",
            field="capabilities",
            minimum=1,
            maximum=MAX_CAPABILITIES,
        )
    return kept


def _endpoint(given: str) -> str:
    clean_text(given, field="endpoint", shortest=0, longest=MAX_ENDPOINT)
    if given and (not given.startswith(("http://", "https://")) or given.split() != [given]):
        raise InvalidInput(
            "endpoint must be an address that begins with http:// or https://.", field="endpoint"
        )
    return given


def _description(given: str) -> str:
    return clean_text(given, field="description", shortest=0, longest=MAX_DESCRIPTION)


_RULES: dict[str, Callable[[Any], Any]] = {
    "name": lambda given: clean_line(given, field="name", longest=MAX_NAME),
    "description": _description,
    "endpoint": _endpoint,
    "capabilities": _capabilities,
    "visibility": lambda given: one_of(given, Visibility.values, field="visibility"),
}


def _offers(providers: QuerySet[Provider]) -> list[Offer]:
    rows = list(providers)
    known = Agent.objects.filter(agent_id__in=[row.agent_id for row in rows])
    scores = dict(known.values_list("agent_id", "score"))
    stale = _long_ago()
    return [Offer(row, scores.get(row.agent_id, 0.0), row.last_seen_at <= stale) for row in rows]


def _rank_offers(capability: str, offers: list[Offer]) -> list[Offer]:
    offers = sorted(offers, key=lambda offer: offer.rank)
    found = matches(capability, [offer.provider.capabilities for offer in offers])
    described = nearness(capability, [offer.provider.description for offer in offers])
    return [
        Offer(offer.provider, offer.reputation_score, offer.is_stale, better)
        for offer, match, near in zip(offers, found, described, strict=True)
        if (better := _better(offer.provider, match, near))
    ]


def _better(provider: Provider, match: Match | None, described: float) -> Match | None:
    """By a capability or, where that says more, by what the provider says of itself."""
    if described <= (match.score if match else 0.0):
        return match
    capability = match.capability if match else provider.capabilities[0]
    return Match(capability, described, "description")


def _long_ago() -> datetime:
    return timezone.now() - STALE_AFTER
