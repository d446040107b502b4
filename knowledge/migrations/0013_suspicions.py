import django.contrib.postgres.fields
import django.db.models.deletion
import knowledge.models.webhook
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0012_arrivals_and_deleted_quarantines'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AllowedFinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(help_text='SHA-256 of the value, as the refused write was told it.', max_length=64, unique=True)),
                ('note', models.CharField(blank=True, help_text='What it is.', max_length=500)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-at'],
            },
        ),
        migrations.RemoveIndex(
            model_name='item',
            name='item_quarantined_by_owner',
        ),
        migrations.AddField(
            model_name='item',
            name='half_screened',
            field=models.BooleanField(default=False, editable=False, help_text='Only its beginning and its end were screened; a job reads the rest.'),
        ),
        migrations.AddField(
            model_name='item',
            name='suspicions',
            field=models.JSONField(blank=True, default=list, editable=False, help_text='What the screening found in it as it is now; its owner is told.'),
        ),
        migrations.AddField(
            model_name='validation',
            name='owner',
            field=models.ForeignKey(editable=False, help_text='Whose agent judged: all tokens of one owner count as one.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='event',
            field=models.CharField(choices=[('item.ready', 'Item Ready'), ('item.failed', 'Item Failed'), ('item.suspected', 'Item Suspected'), ('quota.near', 'Quota Near')], max_length=20),
        ),
        migrations.AlterField(
            model_name='heldback',
            name='reason',
            field=models.CharField(choices=[('reports', 'Reports'), ('injection', 'Injection'), ('secret', 'Secret')], max_length=20),
        ),
        migrations.AlterField(
            model_name='item',
            name='quarantined',
            field=models.BooleanField(default=False, help_text='Held back from everybody but its owner until an admin has ruled.'),
        ),
        migrations.AlterField(
            model_name='quarantine',
            name='reason',
            field=models.CharField(choices=[('reports', 'Reports'), ('injection', 'Injection'), ('secret', 'Secret')], max_length=20),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('item.ready', 'Item Ready'), ('item.failed', 'Item Failed'), ('item.suspected', 'Item Suspected'), ('quota.near', 'Quota Near')], max_length=20), default=knowledge.models.webhook.every_event, size=None),
        ),
        migrations.AddIndex(
            model_name='item',
            index=models.Index(condition=models.Q(('half_screened', True)), fields=['updated_at'], name='item_half_screened'),
        ),
        migrations.AddField(
            model_name='allowedfinding',
            name='allowed_by',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
    ]
