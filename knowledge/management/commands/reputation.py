import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from knowledge.models import Agent
from knowledge.trust import reputation, scoring


class Command(BaseCommand):
    help = "Work out how far every agent is trusted, weigh all judgments by it, print the best."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--top", type=int, default=20, help="how many to print")
        parser.add_argument("--trust", nargs="+", default=[], metavar="AGENT", help="begin there")
        parser.add_argument("--distrust", nargs="+", default=[], metavar="AGENT")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in options["trust"]:
            if not Agent.objects.filter(agent_id=name).exists():
                self.stderr.write(f"{name} has done nothing here yet; is it spelled right?")
        reputation.trust(options["trust"])
        reputation.end_initial_trust(options["distrust"])
        reputation.recompute()
        judged = scoring.reweigh_all()
        best = list(Agent.objects.order_by("-score", "agent_id")[: max(0, options["top"])])
        if options["json"]:
            self.stdout.write(json.dumps({"judged": judged, "agents": list(map(_row, best))}))
            return
        self.stdout.write(f"{judged:,} judged contributions, {Agent.objects.count():,} agents.")
        for agent in best:
            mark = " (trusted from the start)" if agent.parts.get("from_the_start") else ""
            facts = f"{agent.score:.3f}  {agent.agent_id}, {agent.contributions:,} contributions"
            self.stdout.write(facts + mark)


def _row(agent: Agent) -> dict[str, Any]:
    return {
        "agent_id": agent.agent_id,
        "score": agent.score,
        "contributions": agent.contributions,
        "from_the_start": bool(agent.parts.get("from_the_start")),
    }
