from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("knowledge", "0002_search_tables"),
    ]

    operations = [
        migrations.AlterField(
            model_name="generation",
            name="embedder",
            field=models.CharField(help_text="Its name in the settings.", max_length=100),
        ),
        migrations.AddField(
            model_name="generation",
            name="model",
            field=models.CharField(
                default="", help_text="The model that the embedder ran then.", max_length=200
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="generation",
            name="retired_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When another took its place; nothing is written since.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_live", False), ("retired_at__isnull", True), _connector="OR"),
                name="live_generation_not_retired",
            ),
        ),
        migrations.AddField(
            model_name="item",
            name="index_version",
            field=models.PositiveSmallIntegerField(
                default=0, editable=False, help_text="The pipeline's version that indexed this."
            ),
        ),
        migrations.CreateModel(
            name="LibrarySize",
            fields=[
                (
                    "owner",
                    models.OneToOneField(
                        on_delete=models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("chunks", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.AlterField(
            model_name="chunkembedding",
            name="chunk",
            field=models.ForeignKey(
                db_index=False,
                on_delete=models.deletion.CASCADE,
                related_name="embeddings",
                to="knowledge.chunk",
            ),
        ),
        migrations.AlterField(
            model_name="chunkembedding",
            name="generation",
            field=models.ForeignKey(
                db_index=False, on_delete=models.deletion.CASCADE, to="knowledge.generation"
            ),
        ),
        migrations.RunSQL(
            """
            UPDATE knowledge_generation SET model = CASE embedder
                WHEN 'granite' THEN 'granite-embedding-30m-english'
                WHEN 'voyage' THEN 'voyage-context-3'
                ELSE embedder
            END;
            INSERT INTO knowledge_librarysize (owner_id, chunks)
            SELECT owner_id, count(*) FROM knowledge_chunk GROUP BY owner_id;
            """,
            migrations.RunSQL.noop,
        ),
    ]
