"""Sites that are crawled and feeds that are followed."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.arrivals import count_states
from console.bring_forms import FeedChangesForm, FeedForm, SourceForm
from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.crawling import documentation
from knowledge.errors import QuarryError
from knowledge.feeds import following
from knowledge.feeds.following import FeedChanges
from knowledge.models import ArrivalState, Feed, PageState

LIST, SOURCE, FEED = (f"console/parts/{name}.html" for name in ("sources", "source", "feed"))


class SourcesView(ConsoleView):
    """All sources and feeds, and the forms to begin another."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if self.request.htmx:
            return self.show_part(LIST, self._context())
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._crawl() if request.POST.get("kind") == "source" else self._follow()

    def _follow(self) -> HttpResponse:
        form = FeedForm(self.request.POST, access=self.access, auto_id="feed_%s")
        if form.is_valid():
            try:
                feed = following.follow_feed(
                    self.access,
                    url=form.cleaned_data["url"],
                    folder_id=form.folder_id,
                    changes=_changes(form),
                )
            except QuarryError as error:
                add_problem(form, error, otherwise="url")
            else:
                self.tell(f"You follow “{feed.title}”. Its newest entries are on the way.")
                return self.go(reverse("console:feed", args=[feed.pk]))
        return self._page(feed_form=form, status=422)

    def _crawl(self) -> HttpResponse:
        form = SourceForm(self.request.POST, access=self.access, auto_id="source_%s")
        if form.is_valid():
            try:
                source = documentation.add_source(self.undoable, **form.asked)
            except QuarryError as error:
                form.refuse(error)
            else:
                self.tell(f"The crawl of “{source.name}” has begun.")
                return self.go(reverse("console:source", args=[source.pk]))
        return self._page(source_form=form, status=422)

    def _page(
        self,
        *,
        feed_form: FeedForm | None = None,
        source_form: SourceForm | None = None,
        status: int = 200,
    ) -> HttpResponse:
        context = {
            **self._context(),
            "feed_form": feed_form or FeedForm(access=self.access, auto_id="feed_%s"),
            "source_form": source_form or SourceForm(access=self.access, auto_id="source_%s"),
            "source_is_open": source_form is not None,
            "feed_is_open": feed_form is not None,
        }
        return self.show("console/sources.html", context, status=status)

    def _context(self) -> dict[str, Any]:
        sources = documentation.list_sources(self.access)
        feeds = following.list_feeds(self.access)
        return {
            "sources": sources,
            "feeds": feeds,
            "is_busy": any(source.is_at_work for source in sources)
            or any(feed.entry_counts["waiting"] for feed in feeds),
        }


class SourceView(ConsoleView):
    """One site: how far its crawl is, and what came of each page."""

    def get(self, request: HttpRequest, source_id: UUID) -> HttpResponse:
        source = documentation.get_source(self.access, source_id)
        state = request.GET.get("state") or None
        pages = documentation.list_pages(self.access, source_id, state=state, per_page=100)
        context = {
            "source": source,
            "pages": pages,
            "state": state,
            "counts": count_states(source.page_counts, PageState.values),
        }
        if self.request.htmx:
            return self.show_part(SOURCE, context)
        return self.show("console/source.html", context)

    def post(self, request: HttpRequest, source_id: UUID) -> HttpResponse:
        verb = request.POST.get("verb")
        if verb == "delete":
            documentation.delete_source(
                self.undoable, source_id, delete_items="items" in request.POST
            )
            self.tell("The source is deleted.", can_undo=True)
            return self.go(reverse("console:sources"))
        documentation.crawl_again(self.access, source_id)
        self.tell("The crawl has begun.")
        return self.go(reverse("console:source", args=[source_id]))


class FeedView(ConsoleView):
    """One feed: its entries and what came of each, its settings, and what can be done."""

    def get(self, request: HttpRequest, feed_id: UUID) -> HttpResponse:
        feed = following.get_feed(self.access, feed_id)
        context = self._context(feed)
        if self.request.htmx:
            return self.show_part(FEED, context)
        return self.show("console/feed.html", {**context, "form": self._form(feed)})

    def post(self, request: HttpRequest, feed_id: UUID) -> HttpResponse:
        feed = following.get_feed(self.access, feed_id)
        form = FeedChangesForm(request.POST, access=self.access)
        if form.is_valid():
            try:
                following.update_feed(self.access, feed_id, _changes(form))
                following.file_feed(self.access, feed_id, form.folder_id)
            except QuarryError as error:
                form.refuse(error)
            else:
                self.tell("Saved.")
                return self.go(reverse("console:feed", args=[feed_id]))
        context = {**self._context(feed), "form": form}
        return self.show("console/feed.html", context, status=422)

    def _form(self, feed: Feed) -> FeedChangesForm:
        told = {
            "title": feed.title,
            "folder": str(feed.folder_id or ""),
            "tags": ", ".join(feed.tags),
            "max_entries": feed.max_entries,
            "may_transcribe": feed.may_transcribe,
        }
        return FeedChangesForm(initial=told, access=self.access)

    def _context(self, feed: Feed) -> dict[str, Any]:
        state = self.request.GET.get("state") or None
        return {
            "feed": feed,
            "entries": following.list_entries(self.access, feed.pk, state=state),
            "state": state,
            "counts": count_states(feed.entry_counts, ArrivalState.values),
        }


class FeedVerbView(ConsoleView):
    """Asks a feed at once, pauses it, or lets it go."""

    def post(self, request: HttpRequest, feed_id: UUID, verb: str) -> HttpResponse:
        if verb == "unfollow":
            title = following.get_feed(self.access, feed_id).title
            following.unfollow_feed(self.access, feed_id)
            self.tell(f"You no longer follow “{title}”. Its items stay.", level=messages.INFO)
            return self.go(reverse("console:sources"))
        if verb == "poll":
            following.poll_now(self.access, feed_id)
            self.tell("The feed is being asked.")
        else:
            following.pause_feed(self.access, feed_id)
        return self.go(reverse("console:feed", args=[feed_id]))


class EntryView(ConsoleView):
    """Adds an entry that failed, was skipped or waits for a yes to its price."""

    def post(self, request: HttpRequest, feed_id: UUID, entry_id: int) -> HttpResponse:
        following.add_entry(self.access, feed_id, entry_id)
        return self.go(reverse("console:feed", args=[feed_id]))


def _changes(form: FeedForm) -> FeedChanges:
    told = form.cleaned_data
    return FeedChanges(
        title=told.get("title"),
        tags=form.tag_list,
        max_entries=told["max_entries"],
        may_transcribe=told["may_transcribe"],
    )
