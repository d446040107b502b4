"""Memory over REST: remembering, work on tasks, and relations between items."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.batches import BatchInput, BatchOutput, BatchView, ResultOutput, entries_of
from knowledge.api.fields import Flag, Id, ListOf, Number, Object, OneOf, Tags, Text, WholeNumber
from knowledge.api.registry_shapes import FindingOutput
from knowledge.api.shapes import Suspected
from knowledge.api.toolsets import MEMORY
from knowledge.asks import Ask
from knowledge.memory import relations, remembering, task_changes
from knowledge.memory.actions import ACTIONS
from knowledge.memory.relations import MAX_PAGE, MAX_PER_PAGE
from knowledge.memory.remembering import ENTITY_TYPES, MAX_CONTENT, MAX_MEMORY_TITLE, MAX_RELATED
from knowledge.models import IndexStatus, RelationType
from knowledge.models.attributes import MAX_ASSIGNEES, MAX_LANGUAGES, PRIORITIES, TASK_STATUSES
from knowledge.validation import MAX_TAG


def _maybe(**kwargs: Any) -> dict[str, Any]:
    """Left out or null, it is not said."""
    return {"required": False, "allow_null": True, **kwargs}


class MemoryInput(Input):
    """Something to remember."""

    title = Text(shortest=1, longest=MAX_MEMORY_TITLE)
    content = Text(shortest=1, longest=MAX_CONTENT)
    entity_type = Text(default="episode", words=ENTITY_TYPES)
    category = Text(**_maybe(shortest=1, longest=MAX_TAG))
    languages = ListOf(child=Text(shortest=1, longest=MAX_TAG), most=MAX_LANGUAGES, **_maybe())
    tags = Tags(**_maybe())
    related_to = ListOf(
        child=Text(shortest=1, longest=60),
        most=MAX_RELATED,
        **_maybe(help_text="Ids, or predicate:id with " + ", ".join(remembering.PREDICATES) + "."),
    )
    metadata = Object(**_maybe(help_text="Anything else to keep, at most 5 deep."))
    project = Id(**_maybe(help_text="A project's id; a task needs it."))
    priority = Text(required=False, words=PRIORITIES, help_text="Of a task.")
    assignees = ListOf(
        child=Text(shortest=1, longest=MAX_TAG),
        most=MAX_ASSIGNEES,
        **_maybe(help_text="Of a task."),
    )
    due_date = Text(**_maybe(help_text="Of a task: an ISO date."))
    depends_on = ListOf(child=Id(), most=MAX_RELATED, **_maybe(help_text="Ids of tasks."))


class ConflictOutput(serializers.Serializer[Any]):
    """Something that is there already and says nearly the same."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    similarity = serializers.FloatField()


class LinkOutput(serializers.Serializer[Any]):
    """A relation from the new item to another one."""

    id = serializers.UUIDField(source="pk")
    type = serializers.ChoiceField(RelationType.choices)
    target_id = serializers.UUIDField()
    target_title = serializers.CharField(source="target.title")


class RememberedOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="item.pk")
    type = serializers.ChoiceField(ENTITY_TYPES, source="item.type")
    title = serializers.CharField(source="item.title")
    status = serializers.CharField(
        allow_null=True, help_text=f"Of a task: one of {', '.join(TASK_STATUSES)}."
    )
    folder_id = serializers.UUIDField(allow_null=True)
    index_status = serializers.ChoiceField(IndexStatus.choices, source="item.index_status")
    conflicts = ConflictOutput(many=True, source="conflicts.found")
    degraded = serializers.CharField(
        source="conflicts.degraded",
        allow_null=True,
        help_text="Why nobody looked for conflicts, if nobody did.",
    )
    links_made = LinkOutput(many=True, source="links")
    suspected = Suspected()
    findings = FindingOutput(many=True)


class MemoryView(AskView):
    """What agents remember."""

    asks = {"POST": Ask.REMEMBER}
    toolsets = MEMORY

    @extend_schema(
        operation_id="remember",
        tags=["memory"],
        request=MemoryInput,
        responses={201: RememberedOutput, **errors(403, 404, 503)},
    )
    def post(self, request: Request) -> Response:
        remembered = remembering.add(self.access, **MemoryInput.of_body(request))
        return Response(answer_as(RememberedOutput, remembered), status=status.HTTP_201_CREATED)


class MemoryBatchInput(BatchInput):
    entries = entries_of(MemoryInput())


class RememberedResultOutput(ResultOutput):
    answer = RememberedOutput(required=False, help_text="If it was added.")


class RememberedBatchOutput(BatchOutput):
    results = RememberedResultOutput(many=True)


class MemoryBatchView(BatchView):
    """Many things to remember."""

    asks = {"POST": Ask.REMEMBER}
    toolsets = MEMORY

    @extend_schema(
        operation_id="remember_batch",
        tags=["memory"],
        request=MemoryBatchInput,
        responses={
            201: OpenApiResponse(
                RememberedBatchOutput, "What became of each, also if none was added."
            ),
            **errors(403, 404, 413, 415, 503),
        },
    )
    def post(self, request: Request) -> Response:
        entries, asked = MemoryBatchInput.read(request)
        remembered = remembering.add_many(self.access, entries, atomic=asked["atomic"])
        answer = self.results(remembered, RememberedOutput())
        return Response(answer, status=status.HTTP_201_CREATED)


class MoveInput(Input):
    """One thing to do with a task."""

    action = Text(words=ACTIONS)
    data = Object(  # type: ignore[assignment]
        **_maybe(help_text="What the action needs.")
    )


class ManagedOutput(serializers.Serializer[Any]):
    """A task as the action left it."""

    action = serializers.ChoiceField(ACTIONS)
    id = serializers.UUIDField(source="task.pk")
    title = serializers.CharField(source="task.title")
    status = serializers.CharField(help_text=f"One of {', '.join(TASK_STATUSES)}.")
    next_moves = serializers.ListField(child=serializers.CharField())
    project = serializers.UUIDField(
        source="project.pk", default=None, allow_null=True, help_text="Null if it is out of reach."
    )
    priority = serializers.CharField(
        source="task.attributes.priority", default=None, allow_null=True
    )
    assignees = serializers.ListField(
        child=serializers.CharField(), source="task.attributes.assignees", default=list
    )
    due_date = serializers.CharField(
        source="task.attributes.due_date", default=None, allow_null=True
    )
    blocked_reason = serializers.CharField(
        source="task.attributes.blocked_reason", default=None, allow_null=True
    )
    depends_on = serializers.ListField(child=serializers.UUIDField())
    episode_id = serializers.UUIDField(
        source="episode.pk", default=None, allow_null=True, help_text="Of a note or of learnings."
    )
    suspected = Suspected(help_text="The rules by which the task or its note is suspected.")
    findings = FindingOutput(many=True)


class TaskMovesView(AskView):
    """A task's way through its workflow."""

    asks = {"POST": Ask.MANAGE_TASK}
    toolsets = MEMORY

    @extend_schema(
        operation_id="manage_task",
        tags=["memory"],
        request=MoveInput,
        responses={200: ManagedOutput, **errors(403, 404, 503)},
    )
    def post(self, request: Request, task_id: str) -> Response:
        asked = MoveInput.of_body(request)
        managed = task_changes.manage(self.access, entity_id=path_id(task_id), **asked)
        return Response(answer_as(ManagedOutput, managed))


class RelationInput(Input):
    """What the item is to be to another one."""

    target_id = Id()
    type = OneOf(RelationType.choices, default=RelationType.RELATED_TO.value)
    weight = Number(default=1.0, min_value=0, max_value=1)


class RelationOutput(serializers.Serializer[Any]):
    """A relation, from its source to its target."""

    id = serializers.UUIDField(source="pk")
    type = serializers.ChoiceField(RelationType.choices)
    weight = serializers.FloatField()
    source_id = serializers.UUIDField()
    source_title = serializers.CharField(source="source.title")
    target_id = serializers.UUIDField()
    target_title = serializers.CharField(source="target.title")
    valid_from = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)


class RelationsInput(Input):
    """How the listing is narrowed and paged."""

    include_ended = Flag(default=False, help_text="Also relations that hold no longer.")
    page = WholeNumber(default=1, min_value=1, max_value=MAX_PAGE)
    per_page = WholeNumber(default=50, min_value=1, max_value=MAX_PER_PAGE)


class RelationPageOutput(serializers.Serializer[Any]):
    relations = RelationOutput(many=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    per_page = serializers.IntegerField()


class ItemRelationsView(AskView):
    """How an item stands to others."""

    asks = {"GET": Ask.EXPLORE, "POST": Ask.RELATE}
    toolsets = MEMORY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="list_relations",
        tags=["memory"],
        parameters=[RelationsInput],
        responses={200: RelationPageOutput, **errors(404)},
    )
    def get(self, request: Request, item_id: str) -> Response:
        asked = RelationsInput.of_query(request)
        found = relations.relations_of(self.access, path_id(item_id), **asked)
        return Response(answer_as(RelationPageOutput, found))

    @extend_schema(
        operation_id="relate_items",
        tags=["memory"],
        request=RelationInput,
        responses={201: RelationOutput, **errors(403, 404, 409)},
    )
    def post(self, request: Request, item_id: str) -> Response:
        asked = RelationInput.of_body(request)
        relation = relations.relate(self.access, path_id(item_id), asked.pop("target_id"), **asked)
        return Response(answer_as(RelationOutput, relation), status=status.HTTP_201_CREATED)


class RelationView(AskView):
    """One relation: end it."""

    asks = {"DELETE": Ask.RELATE}
    toolsets = MEMORY

    @extend_schema(
        operation_id="end_relation",
        tags=["memory"],
        responses={204: None, **errors(403, 404, 409)},
    )
    def delete(self, request: Request, relation_id: str) -> Response:
        relations.unrelate(self.access, path_id(relation_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
