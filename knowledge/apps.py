from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from knowledge.text.language_tables import keep_tables_in


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = "Library"

    def ready(self) -> None:
        keep_tables_in(Path(settings.QUARRY_HOME) / "models")
