"""Many cases on one set of rows: what each case writes is taken back before the next."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import dramatiq
import pytest
from django.db import models, transaction
from dramatiq.brokers.stub import StubBroker

from knowledge.retrieval.caches import empty_caches

Test = Callable[..., None]


def each_case(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but fixtures are made once for all cases, which are subtests.

    Only for tests within one transaction: a case's rows are rolled back.
    """
    named = [name.strip() for name in names.split(",")]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_each(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in cases:
                given = dict(zip(named, case if len(named) > 1 else [case], strict=True))
                with subtests.test(**given), rolled_back():
                    test(**{name: _own(value) for name, value in fixtures.items()}, **given)

        run_each.__signature__ = _without(test, named)  # type: ignore[attr-defined]
        return run_each

    return decorate


def _own(value: Any) -> Any:
    """A row that one case changes in memory is as it was for the next."""
    return deepcopy(value) if isinstance(value, models.Model) else value


def _without(test: Test, named: list[str]) -> inspect.Signature:
    signature = inspect.signature(test)
    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in named
    ]
    subtests = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
    return signature.replace(parameters=[*kept, subtests])


@contextmanager
def rolled_back() -> Iterator[None]:
    forget_everything()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def forget_everything() -> None:
    """What a process remembers between searches, and jobs that nobody ran."""
    empty_caches()
    broker = dramatiq.get_broker()
    if isinstance(broker, StubBroker):
        broker.flush_all()
