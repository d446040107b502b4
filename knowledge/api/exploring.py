"""Walks over memory, and contexts for a goal, over REST."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors
from knowledge.api.fields import Id, ListOf, OneOf, Text, WholeNumber
from knowledge.api.shapes import Suspected
from knowledge.api.toolsets import MEMORY
from knowledge.asks import Ask
from knowledge.memory import contexts, exploring
from knowledge.memory.contexts import MAX_BUDGET, MIN_BUDGET
from knowledge.memory.exploring import MAX_DEPTH, MODES
from knowledge.memory.facets import FACETS, INTENTS
from knowledge.memory.traversal import DIRECTIONS
from knowledge.models import ItemType, RelationType
from knowledge.models.attributes import TASK_STATUSES
from knowledge.retrieval.search import MAX_QUERY
from knowledge.validation import MAX_TAG


class ExploreInput(Input):
    """What to show, and where to walk."""

    mode = OneOf(MODES, default="list")
    types = ListOf(
        child=OneOf(ItemType.choices), default=list, most=20, help_text="Show only these."
    )
    entity_id = Id(required=False, help_text="Where to begin; for all modes but list.")
    relationship_types = ListOf(
        child=OneOf(RelationType.choices),
        default=list,
        most=20,
        help_text="Walk only along these.",
    )
    depth = WholeNumber(
        default=1, min_value=1, max_value=MAX_DEPTH, help_text="Steps; for traverse."
    )
    language = Text(required=False, shortest=1, longest=MAX_TAG)
    category = Text(required=False, shortest=1, longest=MAX_TAG)
    project = Id(required=False, help_text="A project's id.")
    status = Text(
        required=False,
        shortest=1,
        longest=MAX_TAG,
        help_text=f"A comma list of {', '.join(TASK_STATUSES)}.",
    )
    limit = WholeNumber(default=50, min_value=1, max_value=exploring.MAX_LIMIT)


class StepOutput(serializers.Serializer[Any]):
    """A relation on the way to an item; `out` is from its source to its target."""

    type = serializers.ChoiceField(RelationType.choices)
    direction = serializers.ChoiceField(DIRECTIONS)
    weight = serializers.FloatField()
    to = serializers.UUIDField()


class TaskStateOutput(serializers.Serializer[Any]):
    """Whether a task can be taken up: it is ready, blocked or finished."""

    ready = serializers.BooleanField()
    blocked = serializers.BooleanField()
    depends_on = serializers.ListField(child=serializers.UUIDField())
    waits_for = serializers.ListField(
        child=serializers.UUIDField(), help_text="What of depends_on is still open."
    )


class EntityOutput(serializers.Serializer[Any]):
    """An item, and how one comes to it."""

    id = serializers.UUIDField(source="item.pk")
    type = serializers.ChoiceField(ItemType.choices, source="item.type")
    title = serializers.CharField(source="item.title")
    excerpt = serializers.CharField()
    metadata = serializers.DictField(help_text="Status, project, category, tags and the like.")
    created_at = serializers.DateTimeField(source="item.created_at")
    superseded_by = serializers.UUIDField(allow_null=True)
    distance = serializers.IntegerField(allow_null=True, help_text="In steps, when walked to.")
    relations = StepOutput(many=True)
    task = TaskStateOutput(allow_null=True, help_text="In dependencies.")


class CycleEntityOutput(serializers.Serializer[Any]):
    """One of a cycle; it depends on the next."""

    id = serializers.UUIDField(source="pk")
    title = serializers.CharField()


class ExploredOutput(serializers.Serializer[Any]):
    mode = serializers.ChoiceField(MODES)
    entities = EntityOutput(many=True, source="nodes")
    total = serializers.IntegerField(help_text="Of all that the token sees.")
    has_more = serializers.BooleanField()
    truncated = serializers.BooleanField(
        source="is_cut", help_text="The walk ended before the graph did."
    )
    cycles = serializers.ListField(child=CycleEntityOutput(many=True))
    untrusted = serializers.BooleanField()


class ExploreView(AskView):
    """Memory as a list, or as it hangs together."""

    asks = {"GET": Ask.EXPLORE}
    toolsets = MEMORY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="explore",
        tags=["memory"],
        parameters=[ExploreInput],
        responses={200: ExploredOutput, **errors(404)},
    )
    def get(self, request: Request) -> Response:
        asked = exploring.ExploreRequest(**ExploreInput.of_query(request))
        found = exploring.explore(self.access, asked)
        return Response(answer_as(ExploredOutput, found))


class ContextInput(Input):
    """A goal, and how much of what bears on it."""

    goal = Text(shortest=1, longest=MAX_QUERY, help_text="What is about to be done.")
    intent = OneOf(list(INTENTS), default="general")
    project = Id(required=False, allow_null=True, help_text="A project's id.")
    limit = WholeNumber(default=24, min_value=1, max_value=contexts.MAX_LIMIT)
    token_budget = WholeNumber(default=4_000, min_value=MIN_BUDGET, max_value=MAX_BUDGET)


class ContextItemOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    type = serializers.ChoiceField(ItemType.choices)
    title = serializers.CharField()
    excerpt = serializers.CharField()
    score = serializers.FloatField(allow_null=True, help_text="Null where it was only listed.")
    reason = serializers.CharField(help_text="One sentence: why it is here.")
    url = serializers.CharField()
    suspected = Suspected()


class ContextSectionOutput(serializers.Serializer[Any]):
    facet = serializers.ChoiceField(FACETS)
    items = ContextItemOutput(many=True)


class ContextOutput(serializers.Serializer[Any]):
    intent = serializers.ChoiceField(list(INTENTS))
    sections = ContextSectionOutput(many=True)
    markdown = serializers.CharField(help_text="The same, ready to put before a model.")
    token_count = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    omitted = serializers.IntegerField(help_text="Found, but beyond the budget.")
    degraded = serializers.CharField(allow_null=True)
    untrusted = serializers.BooleanField()


class ContextView(AskView):
    """What bears on a goal."""

    asks = {"POST": Ask.CONTEXT}
    toolsets = MEMORY

    @extend_schema(
        operation_id="build_context",
        tags=["memory"],
        request=ContextInput,
        responses={200: ContextOutput, **errors(404)},
    )
    def post(self, request: Request) -> Response:
        built = contexts.context(self.access, **ContextInput.of_body(request))
        return Response(answer_as(ContextOutput, built))
