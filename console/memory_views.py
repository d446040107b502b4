"""Memory: what agents and people remembered, the task board, and relations as a picture."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.errors import InvalidInput, QuarryError
from knowledge.memory.exploring import ExploreRequest, explore
from knowledge.memory.overview import count_by_type
from knowledge.memory.relation_picture import draw_relations
from knowledge.memory.remembering import ENTITY_TYPES, MAX_CONTENT, MAX_MEMORY_TITLE, add
from knowledge.memory.task_board import list_projects, move_task, task_board
from knowledge.models import ItemType
from knowledge.models.attributes import MAX_REASON, PRIORITIES, TASK_STATUSES
from knowledge.validation import id_or_none

SHOWN = 100


class MemoryView(ConsoleView):
    """The newest memories of a type, or of all."""

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = request.GET.get("type", "")
        chosen = asked if asked in ENTITY_TYPES else ""
        found = explore(self.access, ExploreRequest(types=[chosen] if chosen else (), limit=SHOWN))
        counts = count_by_type(self.access)
        context = {
            "chosen": chosen,
            "counts": counts,
            "total": sum(counts.values()),
            "found": found,
        }
        return self.show("console/memory.html", context)


class RememberForm(forms.Form):
    """A new memory; a task belongs to a project."""

    entity_type = forms.ChoiceField(
        label="Type", choices=[(name, name.capitalize()) for name in ENTITY_TYPES]
    )
    title = forms.CharField(max_length=MAX_MEMORY_TITLE)
    content = forms.CharField(
        max_length=MAX_CONTENT, label="What to remember", widget=forms.Textarea(attrs={"rows": 6})
    )
    tags = forms.CharField(required=False, max_length=1_000, help_text="Separated by commas.")
    project = forms.TypedChoiceField(
        required=False, coerce=str, empty_value=None, help_text="A task needs one."
    )
    priority = forms.ChoiceField(
        required=False,
        choices=[("", "Medium"), *((name, name.capitalize()) for name in PRIORITIES)],
        help_text="Of a task.",
    )
    due_date = forms.DateField(
        required=False, label="Due", widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, projects: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [("", "None"), *((str(each.pk), each.title) for each in projects)]
        self.fields["project"].choices = choices  # type: ignore[attr-defined]

    @property
    def asked(self) -> dict[str, Any]:
        """As `add` takes it; what is only for tasks is left out of all others."""
        given = self.cleaned_data
        asked = {name: given[name] for name in ("entity_type", "title", "content")}
        asked["tags"] = [tag for each in given["tags"].split(",") if (tag := each.strip())]
        if given["project"] and given["entity_type"] != ItemType.PROJECT:
            asked["project"] = given["project"]
        if given["entity_type"] == ItemType.TASK:
            asked["priority"] = given["priority"] or None
            asked["due_date"] = given["due_date"].isoformat() if given["due_date"] else None
        return asked


class RememberView(ConsoleView):
    """Write something down that agents should know."""

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = request.GET.get("type", "")
        kind = asked if asked in ENTITY_TYPES else str(ItemType.EPISODE)
        chosen = {"entity_type": kind, "project": request.GET.get("project", "")}
        return self._page(self._form(initial=chosen))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self._form(request.POST)
        if not form.is_valid():
            return self._page(form, status=422)
        try:
            answer = add(self.undoable, **form.asked)
        except InvalidInput as error:
            add_problem(form, error)
            return self._page(form, status=422)
        self.tell(f"{answer.item.title} is remembered.", can_undo=True)
        if answer.item.type == ItemType.TASK:
            return self.go(reverse("console:board"))
        return self.go(f"{reverse('console:memory')}?type={answer.item.type}")

    def _form(self, *args: Any, **options: Any) -> RememberForm:
        return RememberForm(*args, projects=list_projects(self.access), **options)

    def _page(self, form: RememberForm, *, status: int = 200) -> HttpResponse:
        return self.show("console/remember.html", {"form": form}, status=status)


class MoveForm(forms.Form):
    """Which task goes where, and where it stood on the page that was looked at."""

    task = forms.UUIDField()
    stood = forms.ChoiceField(choices=[(status, status) for status in TASK_STATUSES])
    to = forms.ChoiceField(choices=[(status, status) for status in TASK_STATUSES])
    reason = forms.CharField(required=False, max_length=MAX_REASON)


class BoardView(ConsoleView):
    """The tasks by status; a card moves where the workflow lets it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = MoveForm(request.POST)
        if not form.is_valid():
            raise InvalidInput("That is not a move. Use the buttons on the card.")
        asked = dict(form.cleaned_data)
        task = move_task(self.undoable, asked.pop("task"), **asked)
        self.tell(f"{task.title}: {asked['to']}.", can_undo=True)
        if self.request.htmx:
            return self._page()
        project = request.GET.get("project", "")
        return self.go(f"{reverse('console:board')}?project={id_or_none(project) or ''}")

    def _page(self) -> HttpResponse:
        project_id = id_or_none(self.request.GET.get("project", ""))
        columns = task_board(self.access, project_id=project_id)
        context = {
            "columns": columns,
            "has_tasks": any(column.count for column in columns),
            "projects": list_projects(self.access),
            "project_id": project_id,
        }
        if self.request.htmx:
            return self.show_part("console/parts/board.html", context)
        return self.show("console/board.html", context)


class RelationsView(ConsoleView):
    """Relations around one item, or the newest of all."""

    def get(self, request: HttpRequest, item_id: UUID | None = None) -> HttpResponse:
        try:
            picture = draw_relations(self.access, around=item_id)
        except QuarryError as error:
            return self.show_error(error)
        centre = next((each.item for each in picture.items if each.is_centre), None)
        return self.show("console/relations.html", {"picture": picture, "centre": centre})
