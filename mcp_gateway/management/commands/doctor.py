import json
import platform
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.models import Count
from django.http.request import validate_host

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import check_broker
from knowledge.maintenance import models_in_use
from knowledge.maintenance.tables import unapplied_migrations
from knowledge.models import Generation, IndexStatus, Item, Job
from knowledge.providers import (
    check_choices,
    embedder_named,
    live_answerer,
    live_summarizer,
    live_transcriber,
)
from knowledge.providers.protocols import Answerer, Summarizer
from knowledge.retrieval.unknown_languages import name_of
from mcp_gateway.findings import Finding
from mcp_gateway.outside_check import look_from_outside
from tokens.models import Token

MIN_POSTGRES = 150000
MIN_PGVECTOR = (0, 8)
SPEECH_KEYS = {"assemblyai": "ASSEMBLYAI_API_KEY", "gladia": "GLADIA_API_KEY"}


class Command(BaseCommand):
    help = "Say what is configured, what is missing and how to fix it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print a JSON list")
        parser.add_argument(
            "--security",
            nargs="?",
            const=settings.QUARRY_PUBLIC_URL or settings.SERVED_AT or "http://127.0.0.1:8000",
            metavar="URL",
            help="look at a running instance from outside, and say what is open",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        address = options["security"]
        findings = list(_examine() if address is None else look_from_outside(address))
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings]))
        else:
            for finding in findings:
                self._show(finding)
        if any(finding.state == "fail" for finding in findings):
            raise CommandError("Something needs fixing.")

    def _show(self, finding: Finding) -> None:
        style = {"ok": self.style.SUCCESS, "note": self.style.WARNING, "fail": self.style.ERROR}
        mark = style[finding.state](f"{finding.state:>4}")
        self.stdout.write(f"{mark}  {finding.about:<12} {finding.seen}")
        if finding.fix:
            self.stdout.write(f"      {'':<12} → {finding.fix}")


def _examine() -> Iterator[Finding]:
    yield Finding("python", "ok", platform.python_version())
    yield Finding("data folder", "ok", str(settings.QUARRY_HOME))
    yield _secrets()
    try:
        yield from _database()
    except DatabaseError as error:
        yield Finding(
            "database",
            "fail",
            str(error).strip(),
            "Check DATABASE_URL, or unset it to use the bundled Postgres.",
        )
        return
    migrated = _migrations()
    yield migrated
    if migrated.state == "fail":
        return
    looks = (_people, _public_url, _index, _jobs, _limits)
    for look in (*looks, _model_settings):
        yield look()
    yield from _models()
    if settings.QUARRY_EMBEDDER in ("granite", "universal", "voyage"):
        yield _vendor("Voyage", settings.VOYAGE_API_KEY, "VOYAGE_API_KEY", "embeddings")


def _secrets() -> Finding:
    if settings.PRODUCTION:
        return Finding("mode", "ok", "production; the signing key comes from QUARRY_SECRET_KEY")
    return Finding(
        "mode",
        "note",
        "local; the signing key is kept in the data folder",
        "To serve others, set QUARRY_PRODUCTION=1, QUARRY_SECRET_KEY and QUARRY_ALLOWED_HOSTS.",
    )


def _database() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        number = int(cursor.fetchone()[0])
        cursor.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
        row = cursor.fetchone()
    where = "from DATABASE_URL"
    if "EMBEDDED_HOME" in connection.settings_dict:
        where = "bundled, as DATABASE_URL is not set"
    is_new = number >= MIN_POSTGRES
    yield Finding(
        "database",
        "ok" if is_new else "fail",
        f"Postgres {number // 10000}.{number % 10000}, {where}",
        "" if is_new else "Quarry needs Postgres 15 or newer.",
    )
    version = str(row[0]) if row else ""
    has_vector = row is not None and tuple(map(int, version.split(".")[:2])) >= MIN_PGVECTOR
    yield Finding(
        "pgvector",
        "ok" if has_vector else "fail",
        version or "not installed",
        "" if has_vector else "Install pgvector 0.8 or newer on the database server.",
    )


def _migrations() -> Finding:
    if waiting := unapplied_migrations():
        return Finding("tables", "fail", f"{waiting} migrations wait", "Run manage.py migrate.")
    return Finding("tables", "ok", "up to date")


def _people() -> Finding:
    users, tokens = User.objects.count(), Token.objects.filter(revoked_at=None).count()
    if not users:
        return Finding("people", "note", "no user yet", "manage.py up makes the first one.")
    return Finding("people", "ok", f"users: {users}; tokens not revoked: {tokens}")


def _public_url() -> Finding:
    """Whether clients out there can connect by OAuth, and where they would be sent."""
    url = settings.QUARRY_PUBLIC_URL
    advice = "Set QUARRY_PUBLIC_URL to the https address that people and their clients use."
    if not url:
        return Finding("public address", "note", "none; clients on this machine alone", advice)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        return Finding("public address", "fail", f"{url} is no address of a server", advice)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return Finding("public address", "fail", f"{url} is not https", advice)
    if not validate_host(parts.hostname, settings.ALLOWED_HOSTS):
        return Finding(
            "public address",
            "fail",
            f"{parts.hostname} is not in QUARRY_ALLOWED_HOSTS",
            f"Add {parts.hostname} to QUARRY_ALLOWED_HOSTS.",
        )
    return Finding("public address", "ok", f"{url}; MCP clients connect to {url}/mcp")


def _models() -> Iterator[Finding]:
    """Each model in use, tried where that costs next to nothing."""
    tried = {model.job: model for model in models_in_use.try_models()}
    embedding = tried[models_in_use.EMBEDDING]
    yield _with_figures(_embedder(embedding), embedding)
    yield _languages()
    if model := tried.get(models_in_use.RERANKING):
        yield _with_figures(Finding("reranker", "ok", model.choice), model)
    yield _with_figures(_transcriber(), tried[models_in_use.SPEECH])
    yield _with_figures(_summaries(), tried[models_in_use.SUMMARIES])
    yield _with_figures(_answers(), tried[models_in_use.ANSWERS])


def _with_figures(finding: Finding, model: models_in_use.ModelInUse) -> Finding:
    if finding.state == "ok" and model.trouble:
        seen = f"{finding.seen}, but it does not work"
        return replace(finding, state="fail", seen=seen, fix=model.trouble)
    return replace(finding, seen="; ".join([finding.seen, *model.figures]))


def _model_settings() -> Finding:
    try:
        check_choices()
    except ImproperlyConfigured as error:
        return Finding("models", "fail", "settings that cannot work", str(error))
    return Finding("models", "ok", "settings fit together")


def _embedder(tried: models_in_use.ModelInUse) -> Finding:
    wanted = settings.QUARRY_EMBEDDER
    live = Generation.objects.filter(is_live=True).first()
    name, seen = tried.choice, tried.model
    why = "by QUARRY_EMBEDDER or VOYAGE_API_KEY" if wanted != "granite" else "by default"
    if tried.trouble:
        return Finding("embedder", "fail", f"{name} does not work", tried.trouble)
    if live and tried.dimensions != live.dimensions:
        return Finding(
            "embedder",
            "fail",
            f"{seen} has {tried.dimensions} dimensions; the index was made with {live.dimensions}",
            f"Serve the model as before, or run manage.py reindex --embedder {name}.",
        )
    if name != wanted:
        return Finding(
            "embedder",
            "note",
            f"{seen}: the index was made with it, though {wanted} is configured",
            f"Set QUARRY_EMBEDDER={name}, or run manage.py reindex --embedder {wanted}.",
        )
    return Finding("embedder", "ok", f"{seen} (chosen {why})")


def _languages() -> Finding:
    """Whether the libraries' languages are ones that the embedder knows."""
    live = Generation.objects.filter(is_live=True).first()
    try:
        known = embedder_named(live.embedder if live else settings.QUARRY_EMBEDDER).languages
    except ImproperlyConfigured:
        known = None
    counted = Item.objects.filter(in_kb=True).values_list("content__language")
    found = dict(counted.annotate(items=Count("pk")).order_by("-items"))
    for none in ("", "zxx"):  # not known, and no language at all, such as numbers
        found.pop(none, None)
    unknown = [name for name in found if known is not None and name[:2] not in known]
    if not unknown:
        return Finding("languages", "ok", _with_counts(found) if found else "no text yet")
    return Finding(
        "languages",
        "note",
        f"the embedder does not know {_with_counts({each: found[each] for each in unknown})}",
        "Questions in these weigh words more. QUARRY_EMBEDDER=universal knows 16 languages, "
        "voyage and multilingual models of a server know more; see docs/models/languages.md.",
    )


def _with_counts(counts: dict[str, int]) -> str:
    told = [f"{name_of(language)} ({count:,})" for language, count in counts.items()]
    return ", ".join(told[:8]) + (", …" if told[8:] else "")


def _transcriber() -> Finding:
    try:
        name = live_transcriber().name
    except ProviderUnavailable as error:
        return Finding("transcriber", "fail", "it cannot be used", error.message)
    except ImproperlyConfigured as error:
        return Finding("transcriber", "fail", str(error), "Set QUARRY_TRANSCRIBER to one of them.")
    key = SPEECH_KEYS.get(name, "")
    if key and not getattr(settings, key):
        return Finding("transcriber", "fail", f"{name} lacks its key", f"Set {key}.")
    model = f" {settings.QUARRY_WHISPER_MODEL or 'tiny.en'}" if name == "whisper" else ""
    of_server = settings.QUARRY_TRANSCRIBER if name == "openai" else name
    seen = f"{of_server}{model} (chosen {_why_transcriber(name)})"
    if name == "whisper" and not settings.QUARRY_WHISPER_MODEL:
        more = "It knows English alone; for other languages see docs/models/languages.md."
        return Finding("transcriber", "ok", seen, more)
    return Finding("transcriber", "ok", seen)


def _why_transcriber(name: str) -> str:
    with_key = [vendor for vendor, key in SPEECH_KEYS.items() if getattr(settings, key)]
    if name != next(iter(with_key), "whisper"):
        return "by QUARRY_TRANSCRIBER"
    return f"as {SPEECH_KEYS[name]} is set" if with_key else "as no vendor's key is set"


def _index() -> Finding:
    counts = {status: Item.objects.filter(index_status=status).count() for status in IndexStatus}
    seen = ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "empty"
    if counts[IndexStatus.FAILED]:
        return Finding(
            "index", "note", seen, "Items say why in index_error; see them in the admin."
        )
    return Finding("index", "ok", seen)


def _jobs() -> Finding:
    try:
        where = check_broker()
    except ProviderUnavailable as error:
        return Finding("jobs", "fail", error.message, "Start it, or correct QUARRY_BROKER_URL.")
    if where != "Postgres":
        return Finding("jobs", "ok", f"on {where}, by QUARRY_BROKER_URL")
    counts: dict[str, int] = {}
    for state in Job.objects.values_list("state", flat=True):
        counts[state] = counts.get(state, 0) + 1
    seen = ", ".join(f"{count} {state}" for state, count in counts.items()) or "none waiting"
    if counts.get("dead"):
        return Finding("jobs", "note", f"on {where}: {seen}", "The admin shows why they failed.")
    return Finding("jobs", "ok", f"on {where}: {seen}")


def _limits() -> Finding:
    where = "Redis" if settings.REDIS_URL else "Postgres"
    cache = caches["limits"]
    try:
        cache.delete("doctor")
        works = cache.add("doctor", 1, 60) and cache.incr("doctor") == 2
    except Exception as error:  # whatever a cache's client raises
        return Finding("limits", "fail", f"{where}: {error}", "Check REDIS_URL, or unset it.")
    if not works:
        return Finding("limits", "fail", f"{where} does not count", "Check REDIS_URL, or unset it.")
    return Finding("limits", "ok", f"counted in {where}")


def _summaries() -> Finding:
    return _made_by("summaries", live_summarizer, "QUARRY_SUMMARIZER")


def _answers() -> Finding:
    return _made_by("answers", live_answerer, "QUARRY_ANSWERER")


def _made_by(what: str, live: Callable[[], Summarizer | Answerer], setting: str) -> Finding:
    try:
        name = live().name
    except ProviderUnavailable as error:
        fix = f"{error.message} Or set {setting}=openai:MODEL; see docs/models.md."
        return Finding(what, "note", "off: there is no key", fix)
    except ImproperlyConfigured as error:
        return Finding(what, "fail", str(error), f"Correct {setting}.")
    return Finding(what, "ok", f"{name} (by {setting}={getattr(settings, setting)})")


def _vendor(name: str, key: str, setting: str, job: str) -> Finding:
    if key:
        return Finding(name.lower(), "ok", f"{setting} is set")
    return Finding(
        name.lower(), "note", f"not configured: {job} are made locally", f"Set {setting} to use it."
    )
