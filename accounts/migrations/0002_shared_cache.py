"""The table of Django's cache, which all processes share; unlogged, for a crash may forget it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            CREATE UNLOGGED TABLE quarry_cache (
                cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL
            );
            CREATE INDEX quarry_cache_expiry ON quarry_cache (expires);
            """,
            "DROP TABLE quarry_cache;",
        )
    ]
