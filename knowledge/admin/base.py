"""Shared by all admin pages: which rows a person sees, and saving by the domain's functions."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import AbstractUser, AnonymousUser, User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.decorators import action as unfold_action  # type: ignore[import-untyped]
from unfold.decorators import display as unfold_display

from knowledge.errors import NotFound, QuarryError

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin as UnfoldModelAdmin
    from django.forms import ModelForm
else:
    import unfold.admin

    # Neither class can be subscripted at run time, and Unfold's has no types.
    class UnfoldModelAdmin(unfold.admin.ModelAdmin):
        __class_getitem__ = classmethod(lambda cls, _: cls)

    class ModelForm(forms.ModelForm):
        __class_getitem__ = classmethod(lambda cls, _: cls)


M = TypeVar("M", bound=Model)
F = TypeVar("F", bound=Callable[..., Any])

LONGEST_SHOWN = 20_000
"""Characters of a text on a page: enough to know it by, and a browser still scrolls."""


def badge(description: str, colours: Mapping[Any, str]) -> Callable[[F], F]:
    """A column whose word is shown on its colour."""
    return cast(Callable[[F], F], unfold_display(description=description, label=dict(colours)))


def button(description: str, **look: Any) -> Callable[[F], F]:
    """A method of an admin that is a button on the page of one row."""
    return cast(Callable[[F], F], unfold_action(description=description, **look))


def pre_block(text: str) -> SafeString | str:
    """A text as it stands, escaped, and cut where a browser would choke on it."""
    if not text:
        return ""
    cut = "…" if len(text) > LONGEST_SHOWN else ""
    return format_html('<pre class="quarry-text">{}{}</pre>', text[:LONGEST_SHOWN], cut)


def link_to_url(url: str) -> SafeString | str:
    """An address to follow, if it is one of the web; any other scheme stays text."""
    if not url.startswith(("http://", "https://")):
        return url
    return format_html('<a class="text-link" rel="noreferrer" href="{0}">{0}</a>', url)


Person = AbstractUser | AnonymousUser


def own_rows(person: Person, rows: QuerySet[M]) -> QuerySet[M]:
    """All of these rows for a superuser; for anybody else, those of their own library.

    A model without a page, or with a page for superusers only, yields no rows for others.
    """
    if person.is_superuser:
        return rows
    if rows.model is User:
        return rows.filter(pk=person.pk)
    page = admin.site._registry.get(rows.model)
    return page.rows_of(person, rows) if isinstance(page, ModelAdmin) else rows.none()


class ModelAdmin(UnfoldModelAdmin[M]):
    """A superuser works on every row; other staff only on rows of their own library.

    Permissions do not change that. A page whose rows have no owner is for superusers only.
    """

    owner_path: str | None = None
    """The lookup that leads from a row to its owner; None if only superusers see the rows."""

    names: tuple[str, str] | None = None
    """What one row and many are called in the admin, where the model's own names do not fit."""

    def __init__(self, model: type[M], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        if self.names:
            self.opts = copy(model._meta)
            self.opts.verbose_name, self.opts.verbose_name_plural = self.names

    @property
    def page_name(self) -> str:
        """What the menu, the list's title and the way to it all call this page."""
        return capfirst(str(self.opts.verbose_name_plural))

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        changelist.opts = self.opts
        return changelist

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        named = {"title": self.page_name, **(extra_context or {})}
        return super().changelist_view(request, named)

    def rows_of(self, person: Person, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(**{self.owner_path: person.pk}) if self.owner_path else rows.none()

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else self.rows_of(request.user, rows)

    # Choices of a form ------------------------------------------------------------------

    def get_field_queryset(self, db: Any, db_field: Any, request: HttpRequest) -> Any:
        if request.user.is_superuser:
            return super().get_field_queryset(db, db_field, request)
        return own_rows(request.user, db_field.remote_field.model._default_manager.all())

    def get_form(
        self, request: HttpRequest, obj: M | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        form: type[Any] = super().get_form(request, obj, change, **kwargs)
        if not request.user.is_superuser:
            form.base_fields = {
                name: _own_choices(request, field) for name, field in form.base_fields.items()
            }
        return form

    # Permissions ------------------------------------------------------------------------

    def may_open(self, request: HttpRequest) -> bool:
        """Whether this page has anything to show to this person."""
        return request.user.is_superuser or self.owner_path is not None

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.may_open(request) and super().has_module_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self.may_open(request) and super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.may_open(request) and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self.may_open(request) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self.may_open(request) and super().has_delete_permission(request, obj)


def _own_choices(request: HttpRequest, field: forms.Field) -> forms.Field:
    """A copy, for the class of the form keeps its fields from one request to the next."""
    if not isinstance(field, forms.ModelChoiceField) or field.queryset is None:
        return field
    narrowed = deepcopy(field)
    narrowed.queryset = own_rows(request.user, field.queryset)
    return narrowed


class AskForm(ModelForm[M]):
    """A form whose ask may be refused after all of its own checks have passed."""

    refusal: QuarryError | None = None

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.refusal:
            # `languages.0` is a fault of one line of `languages`.
            field = str(self.refusal.details.get("field")).partition(".")[0]
            self.add_error(field if field in self.fields else None, self.refusal.message)
        return cleaned


class AskAdmin(ModelAdmin[M]):
    """Saves and deletes by asks; one that is refused comes back as an error of the form."""

    delete_confirmation_template = "admin/knowledge/delete.html"
    delete_selected_confirmation_template = "admin/knowledge/delete.html"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except QuarryError as refusal:
            # All that was written is rolled back. The page is made again from what was typed.
            request.refusal = refusal  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(
        self, request: HttpRequest, obj: M | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        form: type[Any] = super().get_form(request, obj, change, **kwargs)
        form.refusal = getattr(request, "refusal", None)  # the class is made anew on each call
        return form

    def save_related(
        self, request: HttpRequest, form: forms.Form, formsets: Any, change: bool
    ) -> None:
        """Nothing: the ask of `save_model` has written it all."""

    def get_deleted_objects(
        self, objs: QuerySet[Any] | Sequence[Any], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """Say what the deletion means, in place of every row of every table that it touches."""
        told: list[Any] = []
        for obj in objs:
            told += [capfirst(f"{self.opts.verbose_name}: {obj}"), self.consequences(obj)]
        return told, {str(self.opts.verbose_name_plural): len(objs)}, set(), []

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        with suppress(NotFound):  # somebody else was first
            self.ask_to_delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def consequences(self, obj: M) -> list[str]:
        """What a deletion means beyond the row itself."""
        raise NotImplementedError

    def ask_to_delete(self, obj: M) -> None:
        raise NotImplementedError


class ReadOnlyAdmin(ModelAdmin[M]):
    """Rows to look at: nothing here is added, changed or deleted by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False
