"""Keyword search: exact strings as written and in parts, languages, phrases, beginnings."""

import pytest

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.models import Content, Item
from knowledge.retrieval import statement
from knowledge.retrieval.plans import KeywordPlan
from tests.support.library import LONG_ENOUGH, Add
from tests.support.rollback import each_case
from tests.support.searching import search

HAYSTACK = (
    "A note on granite, marble and how the quarry is run.",
    "The connection was reset by nobody; the code is 32700 and the version is 1.3.",
    "Items of the API are listed in version one of the document, foo and bar.",
)


def titles(access: Access, query: str) -> list[str]:
    return [hit.item.title for hit in search(access, query=query, mode="keyword").hits]


@each_case(
    "text, queries",
    [
        ("It failed with ECONNRESET again.", ["ECONNRESET", "econnreset"]),
        ("JSON-RPC answers -32605 when limited.", ["-32605", "32605", "code -32605"]),
        ("Call foo_bar.baz() first.", ["foo_bar.baz()", "foo_bar.baz", "foo_bar", "baz"]),
        ("Fixed in v1.2.3 of the server.", ["v1.2.3", "V1.2.3"]),
        ("GET /api/v1/items lists them.", ["/api/v1/items", "api/v1/items", "/api/v1/items/"]),
        ("Use getUserName or HTTPServerError.", ["getUserName", "user name", "server error"]),
        ("Written in C++ and C#.", ["C++", "C#"]),
        ("Set QUARRY_ALLOWED_HOSTS to a list.", ["QUARRY_ALLOWED_HOSTS", "allowed hosts"]),
        ("Mail ada@example.org about it.", ["ada@example.org", "ada"]),
        ("Run it with --no-worker today.", ["--no-worker"]),
        ("The state-of-the-art method.", ["state-of-the-art", "state of the art"]),
        ("東京都の会議は明日です。", ["会議", "東京都"]),
    ],
)
def test_exact_strings_are_found_as_written_and_in_parts(
    library: Access, add: Add, text: str, queries: list[str]
) -> None:
    for number, other in enumerate(HAYSTACK):
        add(f"Other {number}", other)
    add("Needle", text)
    for query in queries:
        assert titles(library, query)[:1] == ["Needle"], query


def test_the_string_as_written_beats_its_parts(library: Access, add: Add) -> None:
    add("Parts", "The foo of the bar is not the baz of the foo, said bar to baz.")
    add("Whole", "Call foo_bar.baz here.")
    assert titles(library, "foo_bar.baz") == ["Whole", "Parts"]


def test_each_language_is_stemmed_by_its_own_rules(library: Access) -> None:
    german = "Die Häuser stehen am Fluss. Wir haben die Häuser im Sommer gestrichen und verkauft."
    french = "Les chevaux couraient dans la prairie pendant que nous mangions des pommes rouges."
    add_text(library, title="Deutsch", text=german)
    add_text(library, title="Français", text=french)
    assert set(Content.objects.values_list("language", flat=True)) == {"de", "fr"}
    assert titles(library, "Haus") == ["Deutsch"]
    assert titles(library, "mangeons pomme") == ["Français"]
    assert titles(library, "gestrichen") == ["Deutsch"]


def test_words_too_common_to_rank_by_are_found_when_nothing_else_is_asked(
    library: Access, add: Add
) -> None:
    add("Hamlet", "To be or not to be.")
    assert titles(library, "to be or not to be") == ["Hamlet"]


@pytest.mark.parametrize("name", ["is_unscoped", "isUnscoped", "is-unscoped", "Token.is_unscoped"])
def test_stop_words_in_an_identifier_match_nothing(library: Access, add: Add, name: str) -> None:
    german = "Die Häuser stehen am Fluss. Wir haben die Häuser im Sommer gestrichen und verkauft."
    add_text(library, title="Deutsch", text=german)  # to German, `is` is a word like any other
    add("Common", "This is not the one that is wanted.")
    assert titles(library, name) == []
    add("Whole", f"Set {name} to true.")
    add("Part", "An unscoped token reaches everything.")
    assert set(titles(library, name)) == {"Whole", "Part"}
    assert titles(library, f"wanted -{name}") == ["Common"]
    assert titles(library, "is_a") == []


def test_a_flag_of_a_command_excludes_nothing_and_a_word_does(library: Access, add: Add) -> None:
    add("Needle", "Install it with npm install -g, or run cargo run -p server.")
    assert titles(library, "npm install -g") == ["Needle"]
    assert titles(library, "cargo run -p server") == ["Needle"]
    assert titles(library, "npm install -cargo") == []


@each_case(
    "text",
    [
        'Revert "Remove Gemini CLI support" (#4187), which broke the login page.',
        'Revert "Revert "Keep the old parser"" for now',
        'Rename "id" to "key" in the "job table" and the "queue of jobs"',
        "Accept -T/--taskId and -verbose in the runner",
        "java -version says which one runs",
        "-Werror is on for gcc -Wall builds; warnings are errors",
        '"Nothing else is asked for here."',
        'Die Häuser stehen am Fluss: "Wir haben die Häuser gestrichen" steht auf dem Schild',
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_note_is_found_by_its_own_text_whatever_marks_it_has(
    library: Access, add: Add, text: str, mode: str
) -> None:
    add("First", HAYSTACK[0])
    search(library, query="granite", mode=mode)  # what is remembered of the languages grows old
    note = add_text(library, title=text[:80], text=text + LONG_ENOUGH)
    found = [hit.item.pk for hit in search(library, query=text[:200], mode=mode).hits]
    assert found[:1] == [note.pk]


def test_one_quoted_word_is_a_word_like_the_others(library: Access, add: Add) -> None:
    add("One", "granite here")
    add("Two", "granite and basalt and obsidian here")
    assert titles(library, '"granite" basalt obsidian') == ["Two", "One"]


def test_more_phrases_come_first(library: Access, add: Add) -> None:
    add("None", "the hill of granite, and a wall of marble: hill, wall, quarry")
    add("Both", "a granite hill, a marble wall")
    add("One", "a granite hill and quarry, quarry, wall, wall")
    assert titles(library, 'quarry "granite hill" "marble wall"') == ["Both", "One", "None"]


def test_a_word_is_left_out_only_beside_others_and_not_where_it_is_a_flag(
    library: Access, add: Add
) -> None:
    add("Word", "gcc takes verbose as its word")
    add("Flag", "gcc takes -verbose as its flag")
    add("Neither", "gcc takes no such thing")
    assert titles(library, "gcc -verbose") == ["Flag", "Neither"]
    assert set(titles(library, "-verbose")) == {"Flag", "Word"}
    many = " ".join(f"filler{n}" for n in range(40))
    assert "Word" in titles(library, f"gcc {many} -verbose")


def test_the_beginning_of_a_word_is_enough_with_a_star(library: Access, add: Add) -> None:
    add("Needle", "The zyzzyva is a weevil.")
    add("Other", HAYSTACK[0])
    assert titles(library, "zyzz*") == ["Needle"]
    assert titles(library, "zyzz") == []


def test_no_word_is_required_and_more_matching_words_rank_higher(library: Access, add: Add) -> None:
    add("One", "granite here")
    add("Two", "granite and basalt here")
    add("None", "nothing of the kind")
    assert titles(library, "granite basalt obsidian") == ["Two", "One"]


@each_case(
    "query",
    [
        *("'", "''", "\\", ":*", "& | !", "(((", '"', '""', "-", "--", "*", "a:b & c", "'; --"),
        *("<-> <2>", "%s %(x)s", "{x}", "🪨" * 50, "a" * 10_000, "-word", '"the"', "the"),
    ],
)
def test_odd_queries_are_answered_not_refused(library: Access, add: Add, query: str) -> None:
    add("Something", HAYSTACK[0])
    for mode in ("keyword", "hybrid"):
        search(library, query=query, mode=mode)


def test_statistics_are_those_of_the_scope(library: Access, add: Add) -> None:
    """A score must not tell how common a word is where the caller cannot look."""
    add("Mine", "granite and marble of my own")
    mine = Access(
        owner_id=library.owner_id,
        capabilities=library.capabilities,
        folder_ids=frozenset(),
    )
    assert search(mine, query="granite", mode="keyword").hits == []
    before = [hit.score for hit in search(library, query="granite marble").hits]
    stranger_text = "granite " * 50 + LONG_ENOUGH
    other = Item.objects.get().owner.__class__.objects.create_user("other")
    add_text(Access.whole_library(other.pk), title="Theirs", text=stranger_text)
    assert [hit.score for hit in search(library, query="granite marble").hits] == before


@pytest.mark.parametrize("plan", KeywordPlan)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_phrase_comes_first_by_every_plan(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch, plan: KeywordPlan, mode: str
) -> None:
    monkeypatch.setattr(statement, "keyword_plan", lambda *_, **__: plan)
    add("Words", "The scope of a folder, the scope of a token, a token and a folder: list them.")
    add("Phrase", "A folder scope.")
    add("Salt", "A folder scope with salt and a token.")
    hits = search(library, query='list token "folder scope" -salt', mode=mode).hits
    assert [hit.item.title for hit in hits] == ["Phrase", "Words"]
