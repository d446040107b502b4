"""Webhooks, and how each delivery went. A secret is on the page that makes it and on no other."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_variables
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextInputWidget,
)

from knowledge.access import Access
from knowledge.admin.base import AskAdmin, AskForm, ReadOnlyAdmin, badge, pre_block
from knowledge.ingest import followups
from knowledge.jobs.fairness import send_job
from knowledge.ledger import webhooks
from knowledge.models import Delivery, DeliveryState, Webhook, WebhookEvent
from knowledge.models.webhook import every_event

_COLOURS = {
    DeliveryState.QUEUED: "info",
    DeliveryState.DELIVERED: "success",
    DeliveryState.FAILED: "danger",
}


class WebhookForm(AskForm[Webhook]):
    url = forms.CharField(
        label="URL", max_length=webhooks.MAX_WEBHOOK_URL, widget=UnfoldAdminTextInputWidget
    )
    events = forms.MultipleChoiceField(
        choices=WebhookEvent,
        initial=every_event,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = Webhook
        fields = ["owner", "is_active"]


@admin.register(Webhook)
class WebhookAdmin(AskAdmin[Webhook]):
    owner_path = "owner"
    form = WebhookForm
    list_display = ["url", "owner", "event_list", "is_active", "created_at"]
    list_filter = ["is_active", ("owner", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["owner"]
    search_fields = ["url", "owner__username", "=id"]
    ordering = ["-created_at"]
    actions = ["send_test"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).defer("secret")

    @admin.display(description="events")
    def event_list(self, webhook: Webhook) -> str:
        return ", ".join(webhook.events)

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> tuple[str, ...]:
        if obj is None:
            return "owner", "url", "events"
        events = "events" if self.has_change_permission(request, obj) else "event_list"
        return "owner", "url", events, "is_active"

    def get_readonly_fields(self, request: HttpRequest, obj: Webhook | None = None) -> list[str]:
        return ["owner", "event_list"] if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": request.user.pk}

    @sensitive_variables()
    def save_model(
        self, request: HttpRequest, obj: Webhook, form: forms.Form, change: bool
    ) -> None:
        access = Access.whole_library(obj.owner_id)
        url, events = form.cleaned_data["url"], form.cleaned_data["events"]
        if change:
            webhooks.update_webhook(access, obj.pk, url=url, events=events, is_active=obj.is_active)
        else:
            obj.pk = webhooks.create_webhook(access, url, events).pk
        obj.refresh_from_db()

    @sensitive_variables()
    def response_add(
        self, request: HttpRequest, obj: Webhook, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that ever shows the secret."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Webhook created",
            "subtitle": str(obj),
            "opts": self.opts,
            "webhook": obj,
            "done_url": reverse("admin:knowledge_webhook_change", args=[obj.pk]),
            "snippets": [{"id": "secret", "title": "The secret", "text": obj.secret}],
        }
        response = TemplateResponse(request, "admin/knowledge/webhook/reveal.html", context)
        add_never_cache_headers(response)
        return response

    def ask_to_delete(self, obj: Webhook) -> None:
        webhooks.delete_webhook(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: Webhook) -> list[str]:
        return [f"Delivery records that are deleted with it: {obj.deliveries.count()}."]

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.change_webhook")

    @admin.action(description="Send a test event", permissions=["send"])
    def send_test(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> None:
        with transaction.atomic():
            for webhook in queryset:
                delivery_id = webhooks.announce_test(webhook)
                send_job(followups.deliver_webhook, str(delivery_id), owner_id=webhook.owner_id)
        self.message_user(request, "Test events have been sent. See Deliveries for the results.")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin[Delivery]):
    owner_path = "webhook__owner"
    list_display = ["event", "webhook", "state_badge", "attempts", "answer", "created_at"]
    list_filter = ["state", "event", ("webhook", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["webhook"]
    search_fields = ["webhook__url", "answer", "=id"]
    ordering = ["-created_at"]
    actions = ["deliver_again"]
    fieldsets = [
        (None, {"fields": ["event", "webhook", "state_badge", "attempts", "answer"]}),
        ("Message", {"fields": ["id", "message_block", "created_at", "changed_at"]}),
    ]

    @badge("state", _COLOURS)
    def state_badge(self, delivery: Delivery) -> str:
        return delivery.state

    @admin.display(description="message")
    def message_block(self, delivery: Delivery) -> SafeString | str:
        return pre_block(webhooks.body_of(delivery).decode())

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.change_delivery")

    @admin.action(description="Deliver again", permissions=["send"])
    def deliver_again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        with transaction.atomic():
            for delivery in queryset:
                webhooks.queue_again(delivery.pk)
                owner_id = delivery.webhook.owner_id
                send_job(followups.deliver_webhook, str(delivery.pk), owner_id=owner_id)
        self.message_user(request, f"{len(queryset)} will be delivered again.", messages.SUCCESS)
