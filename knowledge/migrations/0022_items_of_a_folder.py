from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0021_source_names")]

    operations = [
        # Searches of folders are planned once for all of them. By the mean of few large folders
        # Postgres would read every item of the library for each small one.
        migrations.RunSQL(
            """
            ALTER TABLE knowledge_filing ALTER COLUMN folder_id SET (n_distinct = -0.1);
            ANALYZE knowledge_filing;
            """,
            """
            ALTER TABLE knowledge_filing ALTER COLUMN folder_id RESET (n_distinct);
            ANALYZE knowledge_filing;
            """,
        ),
    ]
