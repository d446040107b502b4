"""Notes as developers keep them: each is found by its owner right after it was added."""

from collections.abc import Iterator
from itertools import cycle, islice

from knowledge.access import Access
from knowledge.memory.remembering import add
from tests.support.searching import search_memory

SEEN = (
    "error handling pattern: retry with jitter and a budget",
    "The Kestrel service belongs to team Lagoon.",
)
SORTS = (
    "fix({part}): {fault} when {cause}",
    "The {part} service belongs to team {team}; ask in #{team} before you change it.",
    "Always run the {part} tests with {cause} before a release.",
    "Decision: keep {part} on version {n}, because {fault} after the upgrade.",
    "TODO {n}: move {part} out of the monolith, then delete the {team} shim.",
    "Never merge {part} on a Friday; {team} is away and {fault}.",
    "How to debug {part}: check that {cause}, then read log {n}.",
    'Revert "{part}: {fault}" (number {n}), it broke {team}',
)
PARTS = ("billing", "parser", "scheduler", "webhook", "uploader", "indexer", "gateway")
TEAMS = ("lagoon", "granite", "osprey", "harbour", "quartz")
FAULTS = ("timeouts pile up", "rows are counted twice", "the cache is stale", "locks are held")
CAUSES = ("the queue is full", "the clock jumps", "a worker restarts", "the disk is slow")


def notes(count: int) -> Iterator[str]:
    yield from SEEN
    words = zip(cycle(SORTS), cycle(PARTS), cycle(TEAMS), cycle(FAULTS), cycle(CAUSES))
    for n, (sort, part, team, fault, cause) in enumerate(islice(words, count - len(SEEN))):
        yield sort.format(part=part, team=team, fault=fault, cause=cause, n=n)


def test_every_plain_note_is_found_right_after_it_was_added(library: Access) -> None:
    for note in notes(60):
        made = add(library, title=note, content=f"{note}\n\nSeen today.")
        found = {each.id: each for each in search_memory(library, query=note).results}
        assert made.item.pk in found, note
        assert found[made.item.pk].metadata["suspected"] == made.suspected
