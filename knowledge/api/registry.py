import hashlib

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.exchange import ZIP
from knowledge.api.fields import Flag, ListOf, Number, Object, OneOf, Tags, Text, WholeNumber
from knowledge.api.registry_shapes import (
    ArchiveOutput,
    ContributedOutput,
    FullSkillOutput,
    FullUnitOutput,
    SkillPageOutput,
    UnitPageOutput,
    VersionsOutput,
)
from knowledge.api.toolsets import REGISTRY
from knowledge.api.versions import ETAG, IF_NONE_MATCH, unless_known
from knowledge.asks import Ask
from knowledge.errors import NotFound
from knowledge.models import Visibility
from knowledge.registry import contributing, reading, schemas, searching
from knowledge.registry.reading import MAX_VERSION
from knowledge.registry.searching import MAX_OFFSET, MAX_SKILLS, MAX_UNITS
from knowledge.registry.skill_format import MAX_SKILL_MD
from knowledge.registry.versioning import ContributionAnswer
from knowledge.retrieval.search import MAX_QUERY
from knowledge.validation import MAX_TAG


class _FindInput(Input):
    """What to find; without a query, the newest."""

    query = Text(required=False, shortest=1, longest=MAX_QUERY, help_text="What to find.")
    domain = Text(required=False, shortest=1, longest=MAX_TAG)
    min_quality = Number(
        required=False,
        min_value=0,
        max_value=1,
        help_text="The least score; by default that of the tools for a search, 0 for a listing.",
    )
    offset = WholeNumber(default=0, min_value=0, max_value=MAX_OFFSET)


class SkillsInput(_FindInput):
    tags = Tags(default=list, help_text="Only skills with all these.")
    limit = WholeNumber(default=5, min_value=1, max_value=MAX_SKILLS)


class UnitsInput(_FindInput):
    types = ListOf(child=OneOf(schemas.UNIT_TYPES), default=list, most=3)
    schema_version = Text(required=False, shortest=1, longest=MAX_TAG)
    limit = WholeNumber(default=5, min_value=1, max_value=MAX_UNITS)


class SkillInput(Input):
    """A skill to share."""

    skill_md_content = Text(
        shortest=1, longest=MAX_SKILL_MD, help_text="YAML frontmatter, then Markdown."
    )
    visibility = OneOf(
        Visibility.choices,
        required=False,
        help_text="By default what its kp.visibility says, else network.",
    )
    files = Object(
        required=False,
        allow_null=True,
        help_text='What comes with it, by relative path: a text, or {"base64": "…"}.',
    )


class UnitInput(Input):
    """A knowledge unit to share."""

    unit = Object(help_text="As its schema at /api/v1/schemas/{type} has it.")
    visibility = OneOf(Visibility.choices)


class VersionInput(Input):
    """Which version; the current one by default."""

    version = WholeNumber(required=False, min_value=1, max_value=MAX_VERSION)


class ArchiveInput(VersionInput):
    as_json = Flag(default=False, help_text="The same files in JSON instead of a zip.")


class SkillsView(AskView):
    """Skills that are published to the token: found, listed, contributed."""

    asks = {"GET": Ask.SEARCH, "POST": Ask.CONTRIBUTE}
    toolsets = REGISTRY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="find_skills",
        tags=["registry"],
        parameters=[SkillsInput],
        responses={200: SkillPageOutput, **errors(503)},
    )
    def get(self, request: Request) -> Response:
        found = searching.find_skills(self.access, **SkillsInput.of_query(request))
        return Response(answer_as(SkillPageOutput, found))

    @extend_schema(
        operation_id="contribute_skill",
        tags=["registry"],
        request=SkillInput,
        responses={
            200: OpenApiResponse(ContributedOutput, "The same was there already."),
            201: ContributedOutput,
            **errors(403, 503),
        },
    )
    def post(self, request: Request) -> Response:
        asked = SkillInput.of_body(request)
        return _contribution_response(contributing.contribute_skill(self.access, **asked))


class SkillView(AskView):
    """One skill, whoever's it is."""

    asks = {"GET": Ask.GET_ITEM}
    toolsets = REGISTRY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="get_skill",
        tags=["registry"],
        parameters=[VersionInput],
        responses={200: FullSkillOutput, **errors(404)},
    )
    def get(self, request: Request, item_id: str) -> Response:
        asked = VersionInput.of_query(request)
        skill = reading.get_skill(self.access, path_id(item_id), **asked)
        return Response(answer_as(FullSkillOutput, skill))


class SkillVersionsView(AskView):
    """The versions of a skill, newest first."""

    asks = {"GET": Ask.REGISTRY}
    toolsets = REGISTRY

    @extend_schema(
        operation_id="list_skill_versions",
        tags=["registry"],
        responses={200: VersionsOutput, **errors(404)},
    )
    def get(self, request: Request, item_id: str) -> Response:
        versions = reading.skill_versions(self.access, path_id(item_id))
        return Response(answer_as(VersionsOutput, {"versions": versions}))


class SkillArchiveView(AskView):
    """A skill as the files that agents install."""

    asks = {"GET": Ask.REGISTRY}
    toolsets = REGISTRY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="get_skill_archive",
        tags=["registry"],
        parameters=[ArchiveInput, IF_NONE_MATCH, ETAG],
        responses={
            (200, ZIP): OpenApiResponse(
                OpenApiTypes.BINARY, "A folder with SKILL.md and the files that came with it."
            ),
            (200, "application/json"): ArchiveOutput,
            304: OpenApiResponse(description="It is still of the ETag in If-None-Match."),
            **errors(404),
        },
    )
    def get(self, request: Request, item_id: str) -> HttpResponseBase:
        asked = ArchiveInput.of_query(request)
        as_json = asked.pop("as_json")
        archive = reading.skill_archive(self.access, path_id(item_id), **asked)
        answer = Response(answer_as(ArchiveOutput, archive)) if as_json else _download(archive)
        digest = hashlib.sha256(archive.zip).hexdigest()[:32]
        answer.headers["ETag"] = f'"{digest}-json"' if as_json else f'"{digest}"'
        return unless_known(request, answer)


class UnitsView(AskView):
    """Knowledge units that are published to the token: found, listed, contributed."""

    asks = {"GET": Ask.SEARCH, "POST": Ask.CONTRIBUTE}
    toolsets = REGISTRY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="find_knowledge",
        tags=["registry"],
        parameters=[UnitsInput],
        responses={200: UnitPageOutput, **errors(503)},
    )
    def get(self, request: Request) -> Response:
        found = searching.find_knowledge(self.access, **UnitsInput.of_query(request))
        return Response(answer_as(UnitPageOutput, found))

    @extend_schema(
        operation_id="contribute_knowledge",
        tags=["registry"],
        request=UnitInput,
        responses={
            200: OpenApiResponse(ContributedOutput, "The same was there already."),
            201: ContributedOutput,
            **errors(403, 503),
        },
    )
    def post(self, request: Request) -> Response:
        asked = UnitInput.of_body(request)
        return _contribution_response(contributing.contribute_knowledge(self.access, **asked))


class UnitView(AskView):
    """One knowledge unit, whoever's it is."""

    asks = {"GET": Ask.GET_ITEM}
    toolsets = REGISTRY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="get_knowledge",
        tags=["registry"],
        parameters=[VersionInput],
        responses={200: FullUnitOutput, **errors(404)},
    )
    def get(self, request: Request, item_id: str) -> Response:
        asked = VersionInput.of_query(request)
        unit = reading.get_unit(self.access, path_id(item_id), **asked)
        return Response(answer_as(FullUnitOutput, unit))


class UnitVersionsView(AskView):
    """The versions of a knowledge unit, newest first."""

    asks = {"GET": Ask.REGISTRY}
    toolsets = REGISTRY

    @extend_schema(
        operation_id="list_knowledge_versions",
        tags=["registry"],
        responses={200: VersionsOutput, **errors(404)},
    )
    def get(self, request: Request, item_id: str) -> Response:
        versions = reading.unit_versions(self.access, path_id(item_id))
        return Response(answer_as(VersionsOutput, {"versions": versions}))


class SchemaView(APIView):
    """A published JSON Schema. Whoever writes a unit needs it, before they have a token."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    schema = None

    def get(self, request: Request, name: str) -> Response:
        if name not in schemas.NAMES:
            raise NotFound(f"There is no such schema; there are: {', '.join(schemas.NAMES)}.")
        address = settings.QUARRY_PUBLIC_URL + reverse("library_api:schema", args=[name])
        return Response({"$id": address, **schemas.schema_named(name)})


def _contribution_response(made: ContributionAnswer) -> Response:
    code = status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK
    return Response(answer_as(ContributedOutput, made), status=code)


def _download(archive: reading.Archive) -> HttpResponse:
    name = content_disposition_header(True, f"{archive.folder}.zip")
    return HttpResponse(archive.zip, content_type=ZIP, headers={"Content-Disposition": name})
