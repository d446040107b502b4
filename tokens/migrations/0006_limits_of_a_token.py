from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tokens", "0005_more_toolsets")]

    operations = [
        migrations.AddField(
            model_name="token",
            name="limits",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Calls an hour of asks that differ from the server's.",
            ),
        ),
    ]
