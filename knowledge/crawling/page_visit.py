"""Visits one page: requests it, and records the outcome."""

from knowledge.crawling import frontier, page_fetch, page_outcomes
from knowledge.crawling.frontier import Address, Rank
from knowledge.crawling.page_fetch import NotModified, Read, Redirect
from knowledge.crawling.page_outcomes import Visit
from knowledge.crawling.robots import Robots
from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.models import PageState


def visit_page(visit: Visit, robots: Robots) -> IngestFailed | None:
    """Ask for a page and keep what it says; a failure that may pass is answered."""
    try:
        _fetch(visit, robots)
    except UnsupportedMedia as error:
        page_outcomes.mark_unread(visit, reason=error.code, error=error.message)
    except IngestFailed as error:
        if error.details.get("reason") == "gone":
            page_outcomes.mark_gone(visit, error)
        elif not error.details.get("may_pass"):
            _give_up(visit, error)
        else:
            _try_again(visit, error)
            return error
    return None


def _fetch(visit: Visit, robots: Robots) -> None:
    page, source = visit.page, visit.source
    if page.tries >= frontier.MAX_TRIES:
        _give_up(visit, IngestFailed("Reading it ended its worker each time.", reason="crashed"))
        return
    # Before anything else: a page that ends its worker must not be tried for ever.
    page.tries += 1
    source.pages.filter(pk=page.pk).update(tries=page.tries)
    is_wanted = page.depth <= source.depth and frontier.fits(source, page.url)
    if not is_wanted and page.rank != Rank.START:
        page_outcomes.mark_skipped(visit, reason="outside")
    elif not robots.allows(page.url):
        page_outcomes.mark_unread(
            visit, reason="robots", error="robots.txt asks us to stay away from it."
        )
    else:
        _ask(visit, robots, is_wanted=is_wanted)


def _ask(visit: Visit, robots: Robots, *, is_wanted: bool) -> None:
    answer = page_fetch.ask(visit.site, visit.page, conditionally=_is_known(visit))
    if isinstance(answer, NotModified):
        page_outcomes.mark_unchanged(visit)
    elif isinstance(answer, Redirect):
        _move(visit, answer)
    elif answer.canonical is not None and _is_better(visit, answer.canonical, robots):
        page_outcomes.mark_duplicate(visit, answer, as_key=answer.canonical.key, reason="canonical")
    elif answer.is_noindex:
        page_outcomes.mark_skipped(visit, reason="noindex", links=answer.links)
    elif not is_wanted:
        page_outcomes.mark_skipped(visit, reason="outside", links=answer.links)
    else:
        _store(visit, answer)


def _is_known(visit: Visit) -> bool:
    """Whether a conditional request is enough: "not modified" would answer everything."""
    page = visit.page
    if page.state == PageState.SAME:
        kept = visit.source.pages.filter(state=PageState.KEPT, item__isnull=False)
        return kept.filter(key=page.same_as).exists()
    has_text = bool(page.digest) and page.item_id is not None
    return has_text and page.state in (PageState.KEPT, PageState.GONE)


def _is_better(visit: Visit, address: Address, robots: Robots) -> bool:
    """Whether the canonical page that this page names is stored already, or may be requested."""
    if not frontier.fits(visit.source, address.url) or not robots.allows(address.url):
        return False
    known = visit.source.pages.filter(key=address.key).first()
    return known is None or known.state in (PageState.QUEUED, PageState.KEPT)


def _move(visit: Visit, moved: Redirect) -> None:
    is_start = visit.page.rank == Rank.START
    if moved.to is not None and frontier.fits(visit.source, moved.to.url):
        page_outcomes.move(visit, moved, moved.to)
    elif moved.is_lasting or is_start:
        told = f"It leads to {moved.url}, which is no page of this source; add that as another."
        page_outcomes.mark_skipped(visit, reason="off_site", error=told)
    else:
        page_outcomes.mark_unread(
            visit, reason="off_site", error=f"It leads to {moved.url} for now."
        )


def _store(visit: Visit, answer: Read) -> None:
    if answer.extracted is not None:
        page_outcomes.store_page(visit, answer, answer.extracted)
    elif answer.failure is not None:
        failure = answer.failure
        reason = str(failure.details.get("reason", failure.code))
        page_outcomes.mark_unread(visit, reason=reason, error=failure.message, links=answer.links)


def _try_again(visit: Visit, error: IngestFailed) -> None:
    if visit.page.tries < frontier.MAX_TRIES:
        page_outcomes.postpone(visit, error)
    else:
        _give_up(visit, error)


def _give_up(visit: Visit, error: IngestFailed) -> None:
    reason = str(error.details.get("reason", error.code))
    page_outcomes.mark_unread(visit, reason=reason, error=error.message, otherwise=PageState.FAILED)
