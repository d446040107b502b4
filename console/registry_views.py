"""Registry: skills and knowledge units, one's own and those that others share."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import ConsoleView
from console.sentences import add_problem, for_people
from knowledge.errors import InvalidInput, QuarryError, not_found
from knowledge.library.items import get_item
from knowledge.models import REGISTRY_TYPES, Item, ItemType, Version, Visibility
from knowledge.registry import contributing, reading, searching, validating
from knowledge.registry.published_items import PublishedItem
from knowledge.registry.versioning import ContributionAnswer

PER_PAGE = 10
MAX_DOCUMENT = 1_000_000


class RegistryView(ConsoleView):
    """What is there: found by words and meaning, or the newest first."""

    def get(self, request: HttpRequest) -> HttpResponse:
        kind = "units" if request.GET.get("kind") == "units" else "skills"
        query = request.GET.get("q", "").strip()
        offset = _offset(request.GET.get("offset", ""))
        find = searching.find_skills if kind == "skills" else searching.find_knowledge
        context: dict[str, Any] = {"kind": kind, "query": query}
        try:
            context["page"] = find(
                self.access, query=query or None, min_quality=0.0, limit=PER_PAGE, offset=offset
            )
        except QuarryError as error:
            context["problem"] = for_people(error)
        context |= {"before": max(0, offset - PER_PAGE), "after": offset + PER_PAGE}
        context["has_before"] = offset > 0
        if self.request.htmx:
            return self.show_part("console/parts/registry_found.html", context)
        return self.show("console/registry.html", context)


@dataclass(frozen=True, slots=True)
class Factor:
    """One part of a quality score, as people read it."""

    name: str
    value: float
    weight: float


class ValidateForm(forms.Form):
    """A judgment of what somebody else shares."""

    valid = forms.TypedChoiceField(
        label="Does it do what it says?",
        choices=[("yes", "Yes, it is valid"), ("no", "No, it is not")],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )
    feedback = forms.CharField(
        required=False,
        max_length=validating.MAX_FEEDBACK,
        label="Why",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ContributionView(ConsoleView):
    """One skill or unit: what it says, how it is scored, its versions, what others say of it."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        return self._page(item_id, ValidateForm())

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        """Judge it."""
        form = ValidateForm(request.POST)
        if not form.is_valid():
            return self._page(item_id, form, status=422)
        try:
            validating.validate_unit(self.undoable, item_id, **form.cleaned_data)
        except InvalidInput as error:
            add_problem(form, error, otherwise="feedback")
            return self._page(item_id, form, status=422)
        self.tell("Your judgment counts; a new one takes its place.", can_undo=True)
        return self.go(reverse("console:contribution", args=[item_id]))

    def _page(self, item_id: UUID, form: ValidateForm, *, status: int = 200) -> HttpResponse:
        number = self.request.GET.get("version", "")
        version = int(number) if number.isdecimal() and len(number) < 7 else None
        published, versions = self._published(item_id, version)
        quality = published.quality
        context = {
            "it": published,
            "text": _as_text(published),
            "is_skill": published.item.type == ItemType.SKILL,
            "is_own": published.item.owner_id == self.person.pk,
            "versions": versions,
            "factors": _factors(quality.factors) if quality else [],
            "judgments": validating.list_validations(self.access, item_id, per_page=50),
            "form": form,
        }
        return self.show("console/contribution.html", context, status=status)

    def _published(self, item_id: UUID, version: int | None) -> tuple[PublishedItem, list[Version]]:
        if _registry_item(self, item_id).type == ItemType.SKILL:
            versions = reading.skill_versions(self.access, item_id)
            return reading.get_skill(self.access, item_id, version=version), versions
        versions = reading.unit_versions(self.access, item_id)
        return reading.get_unit(self.access, item_id, version=version), versions


class ArchiveView(ConsoleView):
    """A skill as the folder that agents install, in a zip."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        archive = reading.skill_archive(self.access, item_id)
        response = HttpResponse(archive.zip, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="skill-{archive.version}.zip"'
        return response


class ContributeForm(forms.Form):
    """A SKILL.md, or a knowledge unit as JSON; typed, pasted or as a file."""

    kind = forms.ChoiceField(
        label="What it is",
        choices=[("skill", "A skill (SKILL.md)"), ("unit", "A knowledge unit (JSON)")],
        widget=forms.RadioSelect,
        initial="skill",
    )
    document = forms.CharField(
        required=False,
        max_length=MAX_DOCUMENT,
        label="Its text",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
    )
    file = forms.FileField(required=False, label="Or a file")
    visibility = forms.ChoiceField(
        choices=[
            (Visibility.PRIVATE, "Only me"),
            (Visibility.ORG, "My organizations"),
            (Visibility.NETWORK, "Everybody on this server"),
        ],
        initial=Visibility.PRIVATE,
        label="Who sees it",
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if file := given.get("file"):
            given["document"] = self._read(file)
        if not given.get("document", "").strip() and not self.errors:
            self.add_error("document", "Paste the text, or choose a file.")
        return given

    def _read(self, file: UploadedFile) -> str:
        try:
            return file.read().decode() if (file.size or 0) <= MAX_DOCUMENT else self._refuse()
        except UnicodeDecodeError:
            return self._refuse()

    def _refuse(self) -> str:
        self.add_error("file", f"It must be a text of at most {MAX_DOCUMENT:,} bytes in UTF-8.")
        return ""


class ContributeView(ConsoleView):
    """Share a skill or unit, or keep one for oneself; the same name again makes a version."""

    def get(self, request: HttpRequest) -> HttpResponse:
        kind = "unit" if request.GET.get("kind") == "units" else "skill"
        return self._page(ContributeForm(initial={"kind": kind, **self._of_earlier()}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ContributeForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._page(form, status=422)
        try:
            answer = self._contribute(form)
        except InvalidInput as error:
            add_problem(form, error, otherwise="document")
            return self._page(form, problems=error.details.get("errors"), status=422)
        except QuarryError as error:
            add_problem(form, error)
            return self._page(form, status=409)
        self._tell_of(answer)
        return self.go(reverse("console:contribution", args=[answer.item.pk]))

    def _contribute(self, form: ContributeForm) -> ContributionAnswer:
        document, visibility = form.cleaned_data["document"], form.cleaned_data["visibility"]
        if form.cleaned_data["kind"] == "skill":
            return contributing.contribute_skill(
                self.undoable, skill_md_content=document, visibility=visibility
            )
        unit = _read_json(document)
        return contributing.contribute_knowledge(self.undoable, unit=unit, visibility=visibility)

    def _tell_of(self, answer: ContributionAnswer) -> None:
        if not answer.is_new:
            self.tell("This very text is there already.")
        elif answer.suspected:
            self.tell(
                "It is yours, and marked: it reads like orders to a model, so others see it only "
                "after an admin has looked at it.",
                can_undo=True,
            )
        else:
            self.tell(f"Version {answer.version.number} is there.", can_undo=True)

    def _of_earlier(self) -> dict[str, Any]:
        """What is there, to be changed into the next version."""
        earlier = self.request.GET.get("from", "")
        try:
            item = _registry_item(self, UUID(earlier)) if earlier else None
        except (ValueError, QuarryError):
            item = None
        if item is None:
            return {}
        is_skill = item.type == ItemType.SKILL
        get = reading.get_skill if is_skill else reading.get_unit
        kind = "skill" if is_skill else "unit"
        document = _as_text(get(self.access, item.pk))
        return {"kind": kind, "document": document, "visibility": item.visibility}

    def _page(
        self, form: ContributeForm, *, problems: Any = None, status: int = 200
    ) -> HttpResponse:
        context = {"form": form, "problems": problems}
        return self.show("console/contribute.html", context, status=status)


def _registry_item(view: ConsoleView, item_id: UUID) -> Item:
    item = get_item(view.access, item_id)
    if item.type not in REGISTRY_TYPES:
        raise not_found("skill or knowledge unit")
    return item


def _as_text(published: PublishedItem) -> str:
    whole = published.whole
    return whole if isinstance(whole, str) else json.dumps(whole, indent=2, ensure_ascii=False)


def _read_json(document: str) -> dict[str, Any]:
    try:
        unit = json.loads(document)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {error}.", field="document") from None
    if not isinstance(unit, dict):
        raise InvalidInput("A knowledge unit is a JSON object.", field="document")
    return unit


def _factors(factors: dict[str, Any]) -> list[Factor]:
    return [
        Factor(name, float(told.get("value", 0)), float(told.get("weight", 0)))
        for name, told in factors.items()
        if isinstance(told, dict)
    ]


def _offset(value: str) -> int:
    return min(int(value), searching.MAX_OFFSET) if value.isdecimal() and len(value) < 5 else 0
