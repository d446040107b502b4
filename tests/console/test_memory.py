"""Memory: by type, on the task board, and as a picture of relations."""

from uuid import uuid4

from django.contrib.auth.models import User
from django.test import Client

from knowledge.access import Access
from knowledge.memory.relation_picture import MOST_RELATIONS, draw_relations
from knowledge.memory.relations import relate
from knowledge.memory.remembering import add as remember
from knowledge.models import Item
from tests.support.library import Add

HOSTILE = "<script>alert(1)</script>"


def project_of(library: Access, title: str = "Harbour") -> Item:
    return remember(library, title=title, content="Work.", entity_type="project").item


def task_of(library: Access, project: Item, title: str = "Measure", **more: object) -> Item:
    asked = {"title": title, "content": "Do it.", "entity_type": "task", "project": project.pk}
    return remember(library, **{**asked, **more}).item  # type: ignore[arg-type]


def test_memories_are_listed_by_type_with_their_counts(visitor: Client, library: Access) -> None:
    assert "Nothing remembered yet" in visitor.get("/memory/").content.decode()
    remember(library, title="Use UTC", content="Always.", entity_type="rule")
    remember(library, title="A day", content="It rained.")
    page = visitor.get("/memory/").content.decode()
    assert "All 2" in page
    assert "Rule 1" in page
    rules = visitor.get("/memory/?type=rule").content.decode()
    assert "Use UTC" in rules
    assert "A day" not in rules
    assert visitor.get("/memory/?type=nonsense").status_code == 200


def test_something_is_remembered_and_taken_back(visitor: Client, library: Access) -> None:
    asked = {"entity_type": "rule", "title": "Use UTC", "content": "Always.", "tags": "time, zone"}
    page = visitor.post("/memory/new", asked, follow=True).content.decode()
    item = Item.objects.get()
    assert (item.type, item.tags) == ("rule", ["time", "zone"])
    [undo] = [part.split('"')[0] for part in page.split('action="') if part.startswith("/undo/")]
    visitor.post(undo)
    assert not Item.objects.exists()


def test_what_cannot_be_remembered_says_why_at_its_field(visitor: Client) -> None:
    task = {"entity_type": "task", "title": "Measure", "content": "Do it."}
    answer = visitor.post("/memory/new", task)
    assert answer.status_code == 422
    assert "is required" in answer.content.decode()
    secret = {**task, "entity_type": "rule"}
    secret["content"] = "The key is ghp_" + "Zq7Xw2Lk9Vb4Nm1Ty8Rc3Hd6Js5Fg0PaEuQi"
    answer = visitor.post("/memory/new", secret)
    assert answer.status_code == 422
    assert not Item.objects.exists()


def test_a_task_moves_where_the_workflow_lets_it(visitor: Client, library: Access) -> None:
    project = project_of(library)
    task = task_of(library, project, due_date="2020-01-01", assignees=["ada"])
    board = visitor.get(f"/memory/board?project={project.pk}").content.decode()
    assert "Measure" in board
    assert "due 2020-01-01" in board
    move = {"task": str(task.pk), "stood": "backlog", "to": "todo"}
    page = visitor.post("/memory/board", move, follow=True).content.decode()
    assert "Measure: todo." in page
    task.refresh_from_db()
    assert task.attributes["status"] == "todo"
    stale = visitor.post("/memory/board", move, headers={"HX-Request": "true"})
    assert stale.status_code == 409
    assert "it is todo now" in stale.content.decode()
    wrong = visitor.post("/memory/board", {**move, "stood": "todo", "to": "done"})
    assert wrong.status_code == 400
    assert visitor.post("/memory/board", {"task": "x"}).status_code == 400


def test_the_board_of_a_project_has_its_tasks_alone(visitor: Client, library: Access) -> None:
    one, two = project_of(library), project_of(library, "Lighthouse")
    first = task_of(library, one, "Measure")
    task_of(library, two, "Paint", depends_on=[first.pk])
    page = visitor.get(f"/memory/board?project={two.pk}").content.decode()
    assert "Paint" in page
    assert "Waits for" in page
    assert "No tasks" in visitor.get(f"/memory/board?project={uuid4()}").content.decode()


def test_relations_are_drawn_and_listed(visitor: Client, library: Access, add: Add) -> None:
    one, two, three = add("Granite"), add("Slate"), add("Chalk")
    assert "No relations" in visitor.get("/memory/relations").content.decode()
    relate(library, one.pk, two.pk, type="supports")
    relate(library, two.pk, three.pk, type="contradicts")
    page = visitor.get("/memory/relations").content.decode()
    assert page.count("<circle") == 3
    assert page.count("<line") == 2
    around = visitor.get(f"/memory/relations/{one.pk}").content.decode()
    assert "Around Granite" in around
    assert "Chalk" not in around
    assert visitor.get(f"/memory/relations/{uuid4()}").status_code == 404


def test_a_picture_stays_within_its_frame_and_is_always_the_same(library: Access, add: Add) -> None:
    items = [add(f"Stone {number}") for number in range(12)]
    for item in items[1:]:
        relate(library, items[0].pk, item.pk)
    first, again = draw_relations(library), draw_relations(library)
    assert [(each.x, each.y) for each in first.items] == [(each.x, each.y) for each in again.items]
    for node in first.items:
        assert 0 <= node.x <= first.width
        assert 0 <= node.y <= first.height
    assert first.total == 11 < MOST_RELATIONS


def test_nothing_of_anothers_memory_is_told(
    other_visitor: Client, library: Access, add: Add, stranger: User
) -> None:
    project = project_of(library, "Ada's harbour")
    task = task_of(library, project, "Ada's task")
    one = add("Ada's stone")
    relate(library, one.pk, project.pk)
    board = f"/memory/board?project={project.pk}"
    for page in ("/memory/", "/memory/board", board, "/memory/relations", "/memory/new"):
        said = other_visitor.get(page).content.decode()
        assert "Ada" not in said
        assert "All 0" in said or page != "/memory/"
    assert other_visitor.get(f"/memory/relations/{one.pk}").status_code == 404
    move = {"task": str(task.pk), "stood": "backlog", "to": "todo"}
    assert other_visitor.post("/memory/board", move).status_code == 404
    theirs = {"entity_type": "task", "title": "x", "content": "y", "project": str(project.pk)}
    assert other_visitor.post("/memory/new", theirs).status_code == 422


def test_hostile_words_are_only_words(visitor: Client, library: Access) -> None:
    project = project_of(library, HOSTILE)
    task = task_of(library, project, HOSTILE, assignees=[HOSTILE])
    relate(library, task.pk, remember(library, title=HOSTILE, content=HOSTILE).item.pk)
    pages = ("/memory/", "/memory/board", "/memory/relations", f"/memory/relations/{task.pk}")
    for page in (*pages, "/memory/new"):
        said = visitor.get(page).content.decode()
        assert "&lt;script&gt;alert(1)" in said
        assert HOSTILE not in said
