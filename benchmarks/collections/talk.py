"""Turns of conversations, from a checkout of github.com/gunthercox/chatterbot-corpus.

`talk`: what one says finds what the other answers. Give the checkout as the second argument.
"""

from argparse import ArgumentParser
from pathlib import Path

import yaml

from benchmarks.collections.writing import Pair, write_collection


def make(folder: Path, checkout: Path) -> None:
    pairs: dict[str, Pair] = {}
    for path in sorted((checkout / "chatterbot_corpus/data/english").glob("*.yml")):
        for turns in yaml.safe_load(path.read_text()).get("conversations", []):
            said, answered, *_ = [*map(str, turns), ""]
            if len(answered.split()) >= 6:
                pairs.setdefault(answered, Pair(said, "", answered))
    write_collection(folder / "talk", pairs.values())


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("checkout", type=Path)
    given = options.parse_args()
    make(given.folder, given.checkout)


if __name__ == "__main__":
    main()
