"""Ask: a question, and an answer in which every sentence cites its passages."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django_ratelimit.core import get_usage

from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.api.errors import STATUSES
from knowledge.api.streaming import stream
from knowledge.asking.answering import MAX_QUESTION, LibraryAnswer, offer_answers, stream_answer
from knowledge.errors import ProviderUnavailable, QuarryError, RateLimited
from knowledge.library.items import list_folders
from knowledge.retrieval.scope import Narrowing

PER_HOUR = 60
EVENT_STREAM = "text/event-stream"
ANSWER = "console/parts/answer.html"


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

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = self._form(request.POST)
        if not form.is_valid():
            return self._page(form, status=422)
        try:
            _spend(self.request)
            if self._streams:
                return stream(
                    self._events(form),
                    content_type=EVENT_STREAM,
                    headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
                )
            *_, answer = self._answers(form)
        except QuarryError as error:
            add_problem(form, error)
            return self._page(form, status=STATUSES[error.code])
        return self._page(form, answer=answer)

    @property
    def _streams(self) -> bool:
        """Whether the page's script asks, which shows the answer as it comes."""
        return self.request.headers.get("Accept") == EVENT_STREAM

    def _answers(self, form: QuestionForm) -> Iterator[LibraryAnswer]:
        narrowing = Narrowing(folder_id=form.cleaned_data["folder"])
        return stream_answer(self.access, form.cleaned_data["question"], narrowing=narrowing)

    def _events(self, form: QuestionForm) -> Iterator[bytes]:
        """As server-sent events: `draft` for the answer below the form, `done` for both."""
        try:
            for answer in self._answers(form):
                if answer.is_whole:
                    yield _event("done", self._part(form, answer))
                else:
                    draft = {"answer": answer}
                    yield _event("draft", render_to_string(ANSWER, draft, self.request))
        except QuarryError as error:
            add_problem(form, error)
            yield _event("done", self._part(form, None))

    def _part(self, form: QuestionForm, answer: LibraryAnswer | None) -> str:
        context = {"form": form, "answer": answer, **self._offer()}
        return render_to_string("console/parts/ask.html", context, self.request)

    def _form(self, *args: Any, **options: Any) -> QuestionForm:
        return QuestionForm(*args, folders=list_folders(self.access), **options)

    def _page(
        self, form: QuestionForm, *, answer: LibraryAnswer | None = None, status: int = 200
    ) -> HttpResponse:
        context = {"form": form, "answer": answer, **self._offer()}
        if self._streams:
            return self.show_part("console/parts/ask.html", context, status=status)
        return self.show("console/ask.html", context, status=status)

    def _offer(self) -> dict[str, Any]:
        try:
            return {"offer": offer_answers(self.access)}
        except (ProviderUnavailable, ImproperlyConfigured) as error:
            return {"missing": str(error)}


def _event(name: str, html: str) -> bytes:
    return f"event: {name}\ndata: {json.dumps(html)}\n\n".encode()


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
