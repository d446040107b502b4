import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models
from django.db.models import F


def fill(apps, schema_editor):
    """What was there before arrived when it says it was made; judgments are of what is seen now."""
    apps.get_model("knowledge", "Item").objects.update(arrived_at=F("created_at"))
    validations = apps.get_model("knowledge", "Validation").objects
    validations.filter(item__visibility="network").update(was_public=True)


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0011_memory_and_registry"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="item",
            name="arrived_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(),
                editable=False,
                help_text="When it came to this server; an archive tells created_at, and never "
                "this.",
            ),
        ),
        migrations.AddField(
            model_name="validation",
            name="was_public",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="Everybody could read what was judged; hiding it later does not unsay "
                "this.",
            ),
        ),
        migrations.AddField(
            model_name="validation",
            name="reputation",
            field=models.FloatField(
                blank=True,
                editable=False,
                help_text="What its agent had when it judged.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="HeldBack",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                (
                    "reason",
                    models.CharField(
                        choices=[("reports", "Reports"), ("injection", "Injection")],
                        max_length=20,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "digest"), name="held_back_once_per_owner"
                    )
                ],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
