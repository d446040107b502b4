"""Made-up long conversations: people whose lives change, what they say of it, and small talk.

Everything follows from the seed. Questions ask for what holds now, what held before, all of it,
what was answered without naming the thing, what was said of somebody else, and who spoke of what.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from benchmarks.lives import (
    ANSWERED,
    ASKED_BACK,
    GREETINGS,
    KIN,
    PEOPLE,
    SMALL_TALK,
    THREADS,
    Thread,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, and the one that it answers."""

    id: str
    title: str
    text: str
    at: datetime
    reply_to: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about a conversation, and the turns that answer it."""

    id: str
    text: str
    answers: tuple[str, ...]


@dataclass(slots=True)
class Conversation:
    """Two people over many sessions, and questions about them."""

    id: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def conversations(count: int, *, sessions: int, seed: int = 11) -> Iterator[Conversation]:
    """So many conversations, each between two people of its own."""
    for number in range(count):
        yield _Writer(f"c{number}", Random(f"{seed} {number}")).written(sessions)


class _Writer:
    """Writes one conversation session by session, and remembers who said what of themselves."""

    def __init__(self, name: str, random: Random) -> None:
        self._conversation = Conversation(name)
        self._random = random
        self._pair: Sequence[str] = random.sample(PEOPLE, 2)
        self._at = datetime(2025, 1, 6, 18, tzinfo=UTC)
        self._said: dict[tuple[str, str], list[str]] = {}
        self._mentioned: dict[tuple[str, str], list[str]] = {}
        self._asked: dict[str, list[str]] = {}

    def written(self, sessions: int) -> Conversation:
        plan = self._plan(sessions)
        for number in range(sessions):
            self._session(number, plan[number])
        self._ask_of_changes()
        self._ask_of_mentions()
        for at, (text, answers) in enumerate(self._asked.items()):
            question = Question(f"{self._conversation.id}:q{at}", text, tuple(answers))
            self._conversation.questions.append(question)
        return self._conversation

    def _plan(self, sessions: int) -> list[list[tuple[str, Thread, str, str]]]:
        """Which fact about whom comes up in which session; most change once or twice."""
        plan: list[list[tuple[str, Thread, str, str]]] = [[] for _ in range(sessions)]
        for thread in THREADS:
            values = self._random.sample(thread.values, len(thread.values))
            for who in self._pair:
                times = min(self._random.choice((1, 2, 2, 3)), sessions)
                told = self._random.sample(thread.told, times)
                places = sorted(self._random.sample(range(sessions), times))
                for place, template in zip(places, told, strict=True):
                    plan[place].append((who, thread, template, values.pop()))
        return plan

    def _session(self, number: int, facts: list[tuple[str, Thread, str, str]]) -> None:
        self._at += timedelta(days=self._random.randint(4, 17))
        one, other = self._random.sample(list(self._pair), 2)
        self._say(number, one, self._random.choice(GREETINGS).format(other=other))
        for who, thread, template, value in facts:
            told = self._say(number, who, template.format(v=value))
            self._mentioned.setdefault((who, value), []).append(told.id)
            self._go_on(number, who, thread, told)
        for _ in range(self._random.randint(3, 6)):
            self._say(number, self._random.choice(list(self._pair)), self._small_talk())

    def _go_on(self, number: int, who: str, thread: Thread, told: Turn) -> None:
        self._said.setdefault((who, thread.noun), []).append(told.id)
        if self._random.random() < 0.5:
            self._ask_back(number, who, thread, told)
        if self._random.random() < 0.35:
            self._tell_of_kin(number, who, thread)
        if self._random.random() < 0.5:
            self._say(number, self._other(who), self._small_talk())

    def _ask_back(self, number: int, who: str, thread: Thread, told: Turn) -> None:
        asked = self._random.choice(ASKED_BACK).format(noun=thread.noun)
        back = self._say(number, self._other(who), asked, reply_to=told.id)
        answer = self._say(number, who, self._random.choice(ANSWERED), reply_to=back.id)
        self._question(f"How does {who} find the {thread.noun}?", answer.id)

    def _tell_of_kin(self, number: int, who: str, thread: Thread) -> None:
        kin, value = self._random.choice(KIN), self._random.choice(thread.values)
        told = self._say(number, who, thread.told_of_kin.format(kin=kin, v=value))
        self._mentioned.setdefault((who, value), []).append(told.id)
        self._question(thread.of_kin.format(who=who, kin=kin), told.id)

    def _ask_of_changes(self) -> None:
        for thread in THREADS:
            for who in self._pair:
                said = self._said[who, thread.noun]
                self._question(thread.now.format(who=who), said[-1])
                if len(said) > 1:
                    self._question(thread.before.format(who=who), said[0])
                    self._question(thread.ever.format(who=who), *said)

    def _ask_of_mentions(self) -> None:
        for (who, value), said in self._mentioned.items():
            if self._random.random() < 0.5:
                self._question(f"What did {who} say about {value}?", *said)

    def _say(self, number: int, who: str, text: str, reply_to: str | None = None) -> Turn:
        self._at += timedelta(minutes=self._random.randint(1, 9))
        turn = Turn(
            id=f"{self._conversation.id}:{number}:{len(self._conversation.turns)}",
            title=f"{who} to {self._other(who)}, {self._at:%d %B %Y}",
            text=f"{who}: {text}",
            at=self._at,
            reply_to=reply_to,
        )
        self._conversation.turns.append(turn)
        return turn

    def _question(self, text: str, *answers: str) -> None:
        """What is asked in the same words twice has the answers of both."""
        self._asked.setdefault(text, []).extend(answers)

    def _other(self, who: str) -> str:
        return next(each for each in self._pair if each != who)

    def _small_talk(self) -> str:
        return self._random.choice(SMALL_TALK)
