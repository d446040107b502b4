"""What the console's pages cost for a library of 10,000 items: CPU of the server, and bytes."""

import gzip
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks import harness

ITEMS = 10_000
SMALL_ITEMS = 500
FOLDERS = 40
TAGS = 200
ROUNDS = 20
BATCH = 500
TYPED = "when is the next explosion of the volcano"
WORDS = [
    *("granite", "basalt", "lava", "magma", "crater", "ash", "tremor", "sensor", "quarry"),
    *("pump", "water", "licence", "survey", "spring", "north", "summit", "volcano", "bench"),
    *("explosion", "chamber", "pressure", "column", "crack", "stone", "dust", "drill", "blast"),
]


def main() -> None:
    options = harness.parser(__doc__).parse_args()
    harness.start_product(options.home / "console", embedder="granite", fresh=True)
    count = SMALL_ITEMS if options.small else ITEMS
    owner_id = harness.new_owner("reader")
    item_id = _fill(owner_id, count)
    harness.settle()
    rows = list(_measure(owner_id, item_id))
    harness.show(f"Console, {count:,} items", rows)
    harness.write_json(options, {"console": rows})


def _fill(owner_id: int, count: int) -> Any:
    """Items with folders, tags and a chunk each; their vectors are made up, as they cost most."""
    from django.db import transaction

    from knowledge import providers
    from knowledge.access import Access
    from knowledge.ingest.adding import add_text
    from knowledge.library.items import create_folder, file_item
    from knowledge.providers.fake import FakeEmbedder

    access = Access.whole_library(owner_id)
    chance = random.Random(1)
    real = providers._EMBEDDERS["granite"]
    fake = FakeEmbedder(dimensions=providers.live_embedder().dimensions)
    fake.name = providers.live_embedder().name
    providers._EMBEDDERS["granite"] = lambda: fake
    providers._load_embedder.cache_clear()
    folders = [create_folder(access, f"Folder {number}").pk for number in range(FOLDERS)]
    for start in range(0, count, BATCH):
        with transaction.atomic():
            for number in range(start, min(start + BATCH, count)):
                text = ". ".join(" ".join(chance.choices(WORDS, k=12)) for _ in range(12))
                title = f"{' '.join(chance.choices(WORDS, k=4))} {number}"
                item_id = add_text(access, title=title, text=text).pk
                file_item(access, item_id, [chance.choice(folders)])
        harness.settle()  # else the planner would take the tables for empty
    harness.execute(
        "UPDATE knowledge_item SET tags = ARRAY['tag-' || floor(random() * %s)]", [TAGS]
    )
    providers._EMBEDDERS["granite"] = real
    providers._load_embedder.cache_clear()
    return item_id


def _measure(owner_id: int, item_id: Any) -> Iterator[harness.Row]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(pk=owner_id))
    typing = {"HX-Request": "true"}
    keystrokes = [f"/?q={TYPED[:end].replace(' ', '+')}" for end in range(1, len(TYPED) + 1)]
    asked: dict[str, list[Callable[[], Any]]] = {
        "first page": [partial(client.get, "/")] * ROUNDS,
        "page 200": [partial(client.get, "/?page=200")] * ROUNDS,
        "each keystroke": [partial(client.get, each, headers=typing) for each in keystrokes],
        "by words": [partial(client.get, f"{each}&mode=keyword") for each in keystrokes],
        "a tag": [partial(client.get, "/?tag=tag-7")] * ROUNDS,
        "folders": [partial(client.get, "/folders/")] * ROUNDS,
        "an item": [partial(client.get, f"/items/{item_id}")] * ROUNDS,
    }
    for name, calls in asked.items():
        calls[0]()
        timings, answers = harness.timed(calls, harness.product_cpu)
        sizes = [len(answer.content) for answer in answers]
        packed = max(len(gzip.compress(answer.content)) for answer in answers)
        yield {"page": name, **timings.row, "kB": max(sizes) / 1000, "kB gzipped": packed / 1000}


if __name__ == "__main__":
    main()
