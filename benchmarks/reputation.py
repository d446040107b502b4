"""How long trust takes to work out: exactly from a long log, and for one more judgment."""

from collections.abc import Callable
from functools import partial
from random import Random

from benchmarks import harness

SIZES = ((1_000, 10_000), (10_000, 100_000))
SMALL_SIZES = ((300, 2_000),)
"""Agents, and their judgments of each other."""

TRUSTED = 20
ITEMS_EACH = 3
SYBILS = 0.1
"""The share of agents that judge only each other."""

VOTES, SMALL_VOTES = 100, 20


def main() -> None:
    options = harness.parser(__doc__).parse_args()
    harness.start_product(options.home / "reputation", embedder="fake", fresh=True)
    owner_id = harness.new_owner("owner")
    sizes = SMALL_SIZES if options.small else SIZES
    rows = [
        _measured(owner_id, agents, judgments, SMALL_VOTES if options.small else VOTES)
        for agents, judgments in sizes
    ]
    harness.show("Reputation", rows)
    harness.write_json(options, {"reputation": rows})


def _measured(owner_id: int, agents: int, judgments: int, votes: int) -> harness.Row:
    from knowledge.models import Agent
    from knowledge.trust import reputation, scoring
    from knowledge.trust.eigentrust import standing_of

    with harness.stopwatch(f"{judgments:,} judgments written"):
        _fill(owner_id, agents, judgments)
    reputation.trust([f"a{n}" for n in range(TRUSTED)])
    edges = reputation._edges()
    begins_with = reputation.from_the_start(())
    row: harness.Row = {"agents": agents, "judgments": judgments}
    row |= _timed("trust itself", lambda: standing_of(edges, begins_with))
    row |= _timed("recompute", reputation.recompute)
    row |= _timed("weigh all anew", scoring.reweigh_all)
    sybils = Agent.objects.filter(agent_id__startswith="s").order_by("-score").first()
    row["best sybil"] = sybils.score if sybils else 0.0
    calls = [partial(_vote, agents, number) for number in range(votes)]
    timings, _ = harness.timed(calls, harness.product_cpu)
    row |= {f"one vote, {name}": timings.row[name] for name in ("p50 ms", "p95 ms", "CPU ms")}
    kept = dict(Agent.objects.values_list("agent_id", "score"))
    reputation.recompute()
    exact = dict(Agent.objects.values_list("agent_id", "score"))
    row["off after all votes"] = max(abs(kept.get(name, 0) - exact[name]) for name in exact)
    return row


def _timed(what: str, call: Callable[[], object]) -> harness.Row:
    timings, _ = harness.timed([call], harness.product_cpu)
    return {f"{what}, s": timings.wall[0], f"{what}, CPU s": timings.cpu_each}


def _fill(owner_id: int, agents: int, judgments: int) -> None:
    """Honest agents judge what is popular, well mostly; sybils judge each other, always well."""
    harness.execute("TRUNCATE knowledge_content, knowledge_item, knowledge_agent CASCADE")
    crowd = int(agents * SYBILS)
    names = [f"a{n}" for n in range(agents - crowd)] + [f"s{n}" for n in range(crowd)]
    items = _items(owner_id, names)
    honest, theirs = items[: (agents - crowd) * ITEMS_EACH], items[(agents - crowd) * ITEMS_EACH :]
    random = Random(5)
    pairs: set[tuple[str, int]] = set()
    while len(pairs) < judgments:
        judge = random.randrange(agents)
        pool = honest if judge < agents - crowd else theirs
        place = int(len(pool) * random.random() ** 2)
        _, contributor = pool[place]
        if contributor != names[judge]:
            pairs.add((names[judge], place if pool is honest else place + len(honest)))
    _write([(judge, *items[place]) for judge, place in sorted(pairs)], random)


def _items(owner_id: int, names: list[str]) -> list[tuple[str, str]]:
    from knowledge.models import Content, Item, Quality

    contents = [
        Content(owner_id=owner_id, kind="text", title=name, text=name)
        for name in names
        for _ in range(ITEMS_EACH)
    ]
    Content.objects.bulk_create(contents, batch_size=5_000)
    items = [
        Item(
            owner_id=owner_id,
            content=content,
            type="skill",
            visibility="network",
            added_by_agent=content.title,
            in_kb=False,
        )
        for content in contents
    ]
    Item.objects.bulk_create(items, batch_size=5_000)
    Quality.objects.bulk_create(
        [
            Quality(item=item, profile="skill", factors={}, intrinsic=0.8, score=0.8)
            for item in items
        ],
        batch_size=5_000,
    )
    return [(str(item.pk), item.added_by_agent) for item in items]


def _write(judgments: list[tuple[str, str, str]], random: Random) -> None:
    from knowledge.models import Validation

    Validation.objects.bulk_create(
        [
            Validation(
                item_id=item_id,
                agent_id=judge,
                contributor=contributor,
                valid=judge.startswith("s") or random.random() < 0.85,
            )
            for judge, item_id, contributor in judgments
        ],
        batch_size=5_000,
    )
    harness.settle()


def _vote(agents: int, number: int) -> None:
    """One more judgment: every tenth by a trusted agent, the others by anybody."""
    from django.db import transaction

    from knowledge.models import Item, Validation
    from knowledge.trust import reputation

    random = Random(number)
    known = TRUSTED if number % 10 == 0 else int(agents * (1 - SYBILS))
    judge = f"a{random.randrange(known)}"
    contributor = f"a{random.randrange(int(agents * (1 - SYBILS)))}"
    item = Item.objects.filter(added_by_agent=contributor).first()
    if item is None or judge == contributor:
        return
    with transaction.atomic(), reputation.recount_judgments(judge, contributor):
        Validation.objects.filter(item=item, agent_id=judge).update(is_current=False)
        Validation.objects.create(item=item, agent_id=judge, contributor=contributor, valid=True)


if __name__ == "__main__":
    main()
