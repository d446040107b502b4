from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0008_lighter_chunks'),
    ]

    operations = [
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(help_text='Whose key: a token, or a person.', max_length=60)),
                ('route', models.CharField(max_length=300)),
                ('key', models.CharField(max_length=255)),
                ('request_hash', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(help_text='Empty while it runs.', null=True)),
                ('body', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotency_oldest')],
                'constraints': [models.UniqueConstraint(fields=('caller', 'route', 'key'), name='idempotency_key_once')],
            },
        ),
    ]
