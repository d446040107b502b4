from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0020_words_counted"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="source", name="source_name_once_per_owner"),
    ]
