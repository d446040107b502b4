"""Enough statistics on words for keyword search to tell the common ones from the rare."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0004_languages")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STATISTICS 500",
            "ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STATISTICS DEFAULT",
        )
    ]
