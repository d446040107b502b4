"""What an embedder that nobody described turns out to be: its dimensions and its background."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.providers.protocols import Vector, Vectors

PAIRS = (
    ("How long do bees live in winter?", "Winter bees live four to six months in the cluster."),
    ("Which port does the database listen on?", "Postgres listens on port 5432 unless told so."),
    ("Who signed the lease?", "The tenant and both owners signed the contract in March."),
    ("Why did the bridge close?", "Inspectors found cracks in two of the bearing cables."),
    ("What does the error 0x80070005 mean?", "The user lacks the right to write to the folder."),
    ("How is sourdough fed?", "Flour and water are stirred into the starter every day."),
    ("When was the telescope launched?", "The observatory left for its orbit on a December day."),
    ("Can children take this medicine?", "Not under twelve years, and never with alcohol."),
    ("What did the committee decide?", "The vote on the budget was put off until autumn."),
    ("How do I revert a commit?", "git revert makes a new commit that undoes an earlier one."),
    ("Where do the cranes rest?", "Thousands of birds stop at the shallow lakes in October."),
    ("Which key is the sonata in?", "The piece is written in B minor and ends in D major."),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """How long the vectors are, and the cosine at which texts lie that have nothing in common."""

    dimensions: int
    background: float


def measure(
    embed_documents: Callable[[Sequence[str]], Vectors], embed_query: Callable[[str], Vector]
) -> Figures:
    """By twelve questions and twelve answers of as many subjects, each with the others'."""
    answers = embed_documents([answer for _, answer in PAIRS])
    asked = [embed_query(question) for question, _ in PAIRS]
    if lengths := {len(vector) for vector in asked} - {answers.shape[1]}:
        raise ProviderUnavailable(
            f"The embedder answers vectors of {answers.shape[1]} dimensions to texts, and of "
            f"{lengths.pop()} to questions: it cannot be searched with.",
            may_pass=False,
        )
    questions = np.stack(asked)
    cosines = questions @ answers.T
    others = cosines[~np.eye(len(PAIRS), dtype=bool)]
    return Figures(answers.shape[1], round(float(np.clip(others.mean(), 0.0, 0.9)), 3))
