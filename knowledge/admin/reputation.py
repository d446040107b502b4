"""Agents and what they are trusted with, what they judged, and what they offer."""

from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator, capfirst

from knowledge.admin import graph
from knowledge.admin.base import ReadOnlyAdmin, badge, button, link_to_url, pre_block
from knowledge.admin.confirm_page import ConfirmingAdmin
from knowledge.admin.tables import (
    facts,
    item_page,
    page_of,
    readable,
    table,
    token_page,
    words_of_name,
)
from knowledge.models import Agent, Provider, Validation
from knowledge.trust import actors
from knowledge.trust.reputation import public

DRAWN = 60
MOST_LINES = 400
NAMED = 20
SHOWN = 50
_VALID_COLOURS = {"valid": "success", "not valid": "danger"}


@admin.register(Agent)
class AgentAdmin(ConfirmingAdmin[Agent]):
    """What an agent's reputation is made of; whether trust begins with it is the operator's."""

    list_display = [
        "agent_id",
        "trust_badge",
        "score_text",
        "trust_text",
        "contributions",
        "computed_at",
    ]
    list_filter = ["is_trusted"]
    search_fields = ["agent_id"]
    ordering = ["-score", "agent_id"]
    actions = ["trust_selected", "distrust_selected"]
    actions_list = ["graph", "recompute"]
    add_fieldsets = [(None, {"fields": ["agent_id", "is_trusted"]})]
    fieldsets = [
        (None, {"fields": ["agent_id", "is_trusted"]}),
        ("Reputation", {"fields": ["score_text", "trust_text", "contributions", "component_rows"]}),
        ("Judgments", {"fields": ["recent_judgments", "was_judged"]}),
        ("When", {"fields": ["computed_at"]}),
    ]
    _shown = [
        *("agent_id", "score_text", "trust_text", "contributions", "component_rows"),
        *("recent_judgments", "was_judged", "computed_at"),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> list[str]:
        return self._shown if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        return False  # what it judged would still count

    @badge("trusted", {True: "warning"})
    def trust_badge(self, agent: Agent) -> tuple[bool, str] | None:
        return (True, "trusted") if agent.is_trusted else None

    @admin.display(description="score", ordering="score")
    def score_text(self, agent: Agent) -> str:
        return f"{agent.score:.3f}"

    @admin.display(description="trust", ordering="trust")
    def trust_text(self, agent: Agent) -> str:
        return f"{agent.trust:.4f}"

    @admin.display(description="components")
    def component_rows(self, agent: Agent) -> SafeString:
        parts = [
            (capfirst(words_of_name(name)), readable(part)) for name, part in agent.parts.items()
        ]
        return facts(parts, empty="Not computed yet.")

    @admin.display(description="its most recent judgments")
    def recent_judgments(self, agent: Agent) -> SafeString:
        return judgments_table(Validation.objects.filter(agent_id=agent.agent_id))

    @admin.display(description="most recent judgments of its work")
    def was_judged(self, agent: Agent) -> SafeString:
        return judgments_table(Validation.objects.filter(contributor=agent.agent_id))

    # The operator's choices -------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Agent, form: forms.Form, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "is_trusted" in form.changed_data:
            self._recompute(request)

    def has_trust_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_change_permission(request)

    @admin.action(description="Trust selected agents", permissions=["trust"])
    def trust_selected(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._choose(request, queryset, is_trusted=True)

    @admin.action(description="Stop trusting selected agents", permissions=["trust"])
    def distrust_selected(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._choose(request, queryset, is_trusted=False)

    def _choose(self, request: HttpRequest, agents: QuerySet[Agent], *, is_trusted: bool) -> None:
        for agent in agents.exclude(is_trusted=is_trusted):
            Agent.objects.filter(pk=agent.pk).update(is_trusted=is_trusted)
            self.log_change(request, agent, "Trusted." if is_trusted else "No longer trusted.")
        self._recompute(request)

    def _recompute(self, request: HttpRequest) -> None:
        with transaction.atomic():
            actors.sweep_reputation.send()
        self.message_user(
            request, "All reputations are being recomputed. Reload this page in a moment."
        )

    @button("Recompute", permissions=["trust"], url_path="recompute", icon="refresh")
    def recompute(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            self._recompute(request)
            return redirect("admin:knowledge_agent_changelist")
        told = [
            f"Agents: {Agent.objects.count():,}.",
            f"Current judgments: {Validation.objects.filter(is_current=True).count():,}.",
            "Scores depend on these and on which agents are trusted. Nothing else changes.",
        ]
        asked = "Recompute all reputations?"
        return self.confirm(request, asked, told=told, yes="Recompute")

    # The picture ------------------------------------------------------------------------

    @button("Reputation graph", permissions=["view"], url_path="graph", icon="hub")
    def graph(self, request: HttpRequest) -> HttpResponse:
        agents = list(Agent.objects.order_by("-score", "-is_trusted", "agent_id")[:DRAWN])
        votes = _votes_among(agents)
        picture = graph.draw(agents, votes[:MOST_LINES])
        context = {
            **self.admin_site.each_context(request),
            "title": "Reputation graph",
            "picture": picture,
            "nodes": [_with_page(node, rank) for rank, node in enumerate(picture.nodes)],
            "agents_table": _agents_table(agents),
            "total": Agent.objects.count(),
            "left_out": len(votes[MOST_LINES:]),
        }
        return TemplateResponse(request, "admin/knowledge/agent/graph.html", context)


def _agents_table(agents: list[Agent]) -> SafeString:
    """The same as the picture, in words."""
    rows = [
        [page_of(agent), f"{agent.score:.3f}", "yes" if agent.is_trusted else "no"]
        for agent in agents
    ]
    return table(["Agent", "Score", "Trusted"], rows, empty="")


def _votes_among(agents: list[Agent]) -> list[graph.Vote]:
    """The judgments between these agents that count for their scores."""
    named = [agent.agent_id for agent in agents]
    said = public().filter(agent_id__in=named, contributor__in=named)
    pairs = said.order_by().values_list("agent_id", "contributor", "valid")
    counted = pairs.annotate(count=Count("pk")).order_by("-count", "agent_id", "contributor")
    return [graph.Vote(*row) for row in counted if row[0] != row[1]]


def _with_page(node: graph.Node, rank: int) -> dict[str, Any]:
    """What the picture writes about an agent: the first ones, and those trusted, by name."""
    is_named = rank < NAMED or node.is_trusted
    return {
        **asdict(node),
        "page": reverse("admin:knowledge_agent_change", args=[quote(node.agent_id)]),
        "name": Truncator(node.agent_id).chars(22) if is_named else "",
        "below": round(node.y + node.radius + 13, 1),
    }


def judgments_table(found: QuerySet[Validation]) -> SafeString:
    """The latest judgments of these, each with what was said to it."""
    rows = [
        [
            item_page(judgment.item),
            judgment.agent_id,
            judgment.contributor,
            _verdict_text(judgment),
            Truncator(judgment.feedback).chars(200),
            judgment.at,
        ]
        for judgment in _with_items(found).order_by("-at")[:SHOWN]
    ]
    return table(["Of", "By", "Work of", "Said", "Feedback", "At"], rows, empty="None.")


def _verdict_text(judgment: Validation) -> str:
    said = "valid" if judgment.valid else "not valid"
    return said if judgment.is_current else f"{said}, replaced since"


def _with_items(found: QuerySet[Validation]) -> QuerySet[Validation]:
    light = found.select_related("item__content")
    return light.defer("item__content__text", "item__content__locators")


@admin.register(Validation)
class ValidationAdmin(ReadOnlyAdmin[Validation]):
    owner_path = "item__owner"
    list_display = [
        *("of", "agent_id", "contributor", "verdict_badge", "short_feedback", "is_current", "at"),
    ]
    list_filter = ["valid", "is_current"]
    search_fields = ["=agent_id", "=contributor", "feedback", "=item__id"]
    search_help_text = "An agent's id, words from the feedback, or an item's id"
    ordering = ["-at"]
    fieldsets = [
        (None, {"fields": ["item_link", "agent_id", "contributor", "verdict_badge", "is_current"]}),
        ("Feedback", {"fields": ["whole_feedback"]}),
        ("Origin", {"fields": ["id", "judge_link", "at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Validation]:
        return _with_items(super().get_queryset(request))

    @admin.display(description="of")
    def of(self, judgment: Validation) -> str:
        return Truncator(judgment.item.title).chars(80)

    @admin.display(description="of")
    def item_link(self, judgment: Validation) -> SafeString:
        return item_page(judgment.item)

    @admin.display(description="judged by")
    def judge_link(self, judgment: Validation) -> SafeString | str:
        return token_page(judgment.added_by_token)

    @badge("said", _VALID_COLOURS)
    def verdict_badge(self, judgment: Validation) -> str:
        return "valid" if judgment.valid else "not valid"

    @admin.display(description="feedback")
    def short_feedback(self, judgment: Validation) -> str:
        return Truncator(judgment.feedback).chars(80)

    @admin.display(description="feedback")
    def whole_feedback(self, judgment: Validation) -> SafeString | str:
        return pre_block(judgment.feedback)


@admin.register(Provider)
class ProviderAdmin(ReadOnlyAdmin[Provider]):
    owner_path = "owner"
    list_display = ["name", "agent_id", "owner", "offers", "visibility", "last_seen_at"]
    list_filter = ["visibility", ("owner", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["owner"]
    search_fields = ["name", "agent_id", "description", "capabilities", "owner__username"]
    ordering = ["name"]
    fieldsets = [
        (None, {"fields": ["name", "agent_id", "owner", "visibility"]}),
        ("What it offers", {"fields": ["offers", "about", "address"]}),
        ("When", {"fields": ["created_at", "last_seen_at"]}),
    ]

    @admin.display(description="capabilities")
    def offers(self, provider: Provider) -> str:
        return ", ".join(provider.capabilities)

    @admin.display(description="description")
    def about(self, provider: Provider) -> SafeString | str:
        return pre_block(provider.description)

    @admin.display(description="endpoint")
    def address(self, provider: Provider) -> SafeString | str:
        return link_to_url(provider.endpoint)
