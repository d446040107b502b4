"""Ask: a question, and an answer in which every sentence cites its passages."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django_ratelimit.core import get_usage

from console.pages import ConsoleView
from knowledge.asking.answering import MAX_QUESTION, LibraryAnswer, answer_question, offer_answers
from knowledge.errors import InvalidInput, ProviderUnavailable, RateLimited
from knowledge.library.items import list_folders
from knowledge.retrieval.scope import Narrowing

PER_HOUR = 60


class QuestionForm(forms.Form):
    """What to ask, and whether only one folder should answer."""

    question = forms.CharField(
        max_length=MAX_QUESTION,
        min_length=3,
        label="Your question",
        widget=forms.Textarea(attrs={"rows": 2, "autofocus": True, "data-search": ""}),
    )
    folder = forms.TypedChoiceField(
        required=False, coerce=UUID, empty_value=None, label="Answer out of"
    )

    def __init__(self, *args: Any, folders: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [("", "My whole library"), *((each.pk, each.name) for each in folders)]
        self.fields["folder"].choices = choices  # type: ignore[attr-defined]


class AskView(ConsoleView):
    """Getting the page spends nothing; only a form that is sent does."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(self._form(initial={"question": request.GET.get("q", "")}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self._form(request.POST)
        if not form.is_valid():
            return self._page(form, status=422)
        try:
            answer = self._answer(form)
        except InvalidInput as error:
            form.add_error("question", error.message)
            return self._page(form, status=422)
        except ProviderUnavailable as error:
            form.add_error(None, error.message)
            return self._page(form, status=503)
        return self._page(form, answer=answer)

    def _answer(self, form: QuestionForm) -> LibraryAnswer:
        _spend(self.request)
        narrowing = Narrowing(folder_id=form.cleaned_data["folder"])
        return answer_question(self.access, form.cleaned_data["question"], narrowing=narrowing)

    def _form(self, *args: Any, **options: Any) -> QuestionForm:
        return QuestionForm(*args, folders=list_folders(self.access), **options)

    def _page(
        self, form: QuestionForm, *, answer: LibraryAnswer | None = None, status: int = 200
    ) -> HttpResponse:
        context = {"form": form, "answer": answer, **self._offer()}
        # A failed try comes back whole too, so that htmx shows the sentence beside the form.
        if self.request.htmx:
            return self.show_part("console/parts/ask.html", context, status=min(status, 499))
        return self.show("console/ask.html", context, status=status)

    def _offer(self) -> dict[str, Any]:
        try:
            return {"offer": offer_answers(self.access)}
        except (ProviderUnavailable, ImproperlyConfigured) as error:
            return {"missing": str(error)}


def _spend(request: HttpRequest) -> None:
    """Count a question of this person."""
    usage = get_usage(request, group="ask", key="user", rate=f"{PER_HOUR}/h", increment=True)
    if usage and usage["should_limit"]:
        wait = max(1, usage["time_left"])
        raise RateLimited(
            f"You have asked {PER_HOUR} questions in this hour; ask again in {wait} seconds.",
            retry_after_sec=wait,
            limit=PER_HOUR,
        )


def questions_left(request: HttpRequest) -> int:
    """How many questions the person can still ask in this hour."""
    usage = get_usage(request, group="ask", key="user", rate=f"{PER_HOUR}/h", increment=False)
    return max(0, PER_HOUR - usage["count"]) if usage else PER_HOUR
