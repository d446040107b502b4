"""The table of rate-limit counters; unlogged, for a crash may forget them."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tokens", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            CREATE UNLOGGED TABLE quarry_counter (
                key text PRIMARY KEY, value bigint NOT NULL, expires_at timestamptz
            );
            CREATE INDEX quarry_counter_expiry ON quarry_counter (expires_at);
            """,
            "DROP TABLE quarry_counter;",
        )
    ]
