"""People and organizations, as Django keeps them, in the look of the other pages."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import ManyToManyField, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.forms import (  # type: ignore[import-untyped]
    AdminPasswordChangeForm,
    UserChangeForm,
    UserCreationForm,
)
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelectWidget,
)

from knowledge.admin.base import M, ModelAdmin, button
from knowledge.ledger import quotas
from knowledge.models import Allowance, Tier

if TYPE_CHECKING:
    DjangoUserAdmin = UserAdmin[User]
else:
    DjangoUserAdmin = UserAdmin

admin.site.unregister(User)
admin.site.unregister(Group)


class ManyChoices(ModelAdmin[M]):
    """One box that searches for many choices; Django's two boxes are wider than the page."""

    def formfield_for_manytomany(
        self, db_field: "ManyToManyField[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field:
            field.widget = UnfoldAdminSelect2MultipleWidget(choices=field.choices)
            field.help_text = db_field.help_text
        return field


class PersonForm(UserChangeForm):  # type: ignore[misc]
    tier = forms.ModelChoiceField(
        Tier.objects.order_by("name"),
        required=False,
        empty_label="The default tier",
        help_text="If there is no default tier, minutes are unlimited.",
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["tier"] = Tier.objects.filter(allowances__owner=self.instance).first()


@admin.register(User)
class PersonAdmin(DjangoUserAdmin, ManyChoices[User]):
    """A person and their library. Nobody is deleted, for that would delete the library too."""

    names = ("person", "people")
    form = PersonForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions_detail = ["new_password"]
    filter_horizontal = []
    list_display = [
        *("username", "email", "is_active", "is_staff", "is_superuser", "tier", "minutes"),
        "last_login",
    ]
    list_per_page = 50
    # Without Django's field that shows a part of the password's hash.
    fieldsets = [
        (None, {"fields": ["username", "first_name", "last_name", "email"]}),
        (
            "What they may do",
            {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]},
        ),
        ("Transcription", {"fields": ["tier", "minutes"]}),
        ("When", {"fields": ["last_login", "date_joined"]}),
    ]
    readonly_fields = ["minutes", "last_login", "date_joined"]

    @admin.display(description="tier")
    def tier(self, person: User) -> str:
        return quotas.quota_of(person.pk).tier

    @admin.display(description="minutes this month")
    def minutes(self, person: User) -> str:
        quota = quotas.quota_of(person.pk)
        cap = quota.cap_per_month
        return f"{quota.used:,.1f}" + (", no cap" if cap is None else f" of {cap:,}")

    def save_model(self, request: HttpRequest, obj: User, form: forms.Form, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "tier" not in form.changed_data:
            return
        if tier := form.cleaned_data["tier"]:
            Allowance.objects.update_or_create(owner=obj, defaults={"tier": tier})
        else:
            Allowance.objects.filter(owner=obj).delete()

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    @button("Change password", permissions=["change"], url_path="new-password", icon="key")
    def new_password(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return redirect("admin:auth_user_password_change", object_id)


class OrganizationForm(forms.ModelForm):  # type: ignore[type-arg]
    members = forms.ModelMultipleChoiceField(
        User.objects.order_by("username"),
        required=False,
        help_text="Members can read what other members share with the organization.",
        widget=UnfoldAdminSelect2MultipleWidget,
    )

    class Meta:
        model = Group
        fields = ["name", "permissions"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["members"] = self.instance.user_set.all()


@admin.register(Group)
class OrganizationAdmin(GroupAdmin, ManyChoices[Group]):
    """Members of an organization share what they make visible to it."""

    names = ("organization", "organizations")
    form = OrganizationForm
    list_display = ["name", "member_names"]
    filter_horizontal = []
    fieldsets = [
        (None, {"fields": ["name", "members"]}),
        ("What members may do in this admin", {"fields": ["permissions"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).prefetch_related("user_set")

    @admin.display(description="members")
    def member_names(self, organization: Group) -> str:
        return ", ".join(sorted(person.username for person in organization.user_set.all()))

    def save_related(
        self, request: HttpRequest, form: forms.Form, formsets: Any, change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        organization: Group = form.instance  # type: ignore[attr-defined]
        organization.user_set.set(form.cleaned_data["members"])
