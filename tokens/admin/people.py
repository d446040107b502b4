"""People and organizations, as Django keeps them, in the look of the other pages."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import ManyToManyField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.forms import (  # type: ignore[import-untyped]
    AdminPasswordChangeForm,
    UserChangeForm,
    UserCreationForm,
)
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminSelect2MultipleWidget,
)

from knowledge.admin.base import M, ModelAdmin, button

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


@admin.register(User)
class PersonAdmin(DjangoUserAdmin, ManyChoices[User]):
    """A person and their library. Nobody is deleted, for that would delete the library too."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions_detail = ["new_password"]
    filter_horizontal = []
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "last_login"]
    # Without Django's field that shows a part of the password's hash.
    fieldsets = [
        (None, {"fields": ["username", "first_name", "last_name", "email"]}),
        (
            "What they may do",
            {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]},
        ),
        ("When", {"fields": ["last_login", "date_joined"]}),
    ]
    readonly_fields = ["last_login", "date_joined"]

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    @button("Change password", permissions=["change"], url_path="new-password", icon="key")
    def new_password(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return redirect("admin:auth_user_password_change", object_id)


@admin.register(Group)
class OrganizationAdmin(GroupAdmin, ManyChoices[Group]):
    """Members of an organization share what they make visible to it."""

    filter_horizontal = []
