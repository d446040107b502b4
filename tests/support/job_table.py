"""Jobs that this process sends go into the table where real workers look, as in the product."""

import dramatiq
import pytest

from knowledge.jobs.broker import PostgresBroker, broker_for


def send_to_the_table(monkeypatch: pytest.MonkeyPatch) -> PostgresBroker:
    """The table's broker, which every actor sends to until the test ends."""
    broker = broker_for("")
    assert isinstance(broker, PostgresBroker)
    for actor in list(dramatiq.get_broker().actors.values()):
        monkeypatch.setattr(actor, "broker", broker)
        broker.declare_actor(actor)
    return broker
