from django.db import migrations

# The judge's owner is the token's; the log has no other trace of it.
_OWNER_BY_TOKEN = """
    UPDATE knowledge_validation AS judgment SET owner_id = token.owner_id
    FROM tokens_token AS token WHERE token.id = judgment.added_by_token
"""
_OWNER_BY_NAME = """
    UPDATE knowledge_validation AS judgment SET owner_id = person.id
    FROM auth_user AS person
    WHERE judgment.owner_id IS NULL AND person.username = judgment.agent_id
"""
_END_OWN = """
    UPDATE knowledge_validation AS judgment SET is_current = false
    FROM knowledge_item AS item
    WHERE item.id = judgment.item_id AND item.owner_id = judgment.owner_id AND judgment.is_current
"""
_END_ALL_BUT_THE_LAST = """
    UPDATE knowledge_validation AS judgment SET is_current = false
    FROM knowledge_validation AS later
    WHERE judgment.is_current AND later.is_current AND later.item_id = judgment.item_id
        AND later.owner_id = judgment.owner_id AND (later.at, later.id) > (judgment.at, judgment.id)
"""


def lift(apps, schema_editor):
    """Mark every suspected item; what is private and nobody has ruled on is held back no more."""
    for item in apps.get_model("knowledge", "Item").objects.filter(quarantined=True).iterator():
        held = list(item.quarantines.exclude(verdict="restored"))
        told = [finding for each in held for finding in each.findings]
        found = [finding for finding in told if finding.get("kind") == "injection"]
        item.suspicions = [each for at, each in enumerate(found) if each not in found[:at]]
        is_open = all(each.verdict == "open" for each in held)
        if item.visibility == "private" and is_open and len(found) == len(told):
            item.quarantined = False
            item.quarantines.filter(verdict="open").delete()
        item.save(update_fields=["suspicions", "quarantined"])


def count_owners(apps, schema_editor):
    """One judgment of each owner holds, the latest, and none of their own work."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if "tokens_token" in connection.introspection.table_names(cursor):
            cursor.execute(_OWNER_BY_TOKEN)
        for statement in (_OWNER_BY_NAME, _END_OWN, _END_ALL_BUT_THE_LAST):
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0013_suspicions")]

    operations = [
        migrations.RunPython(lift, migrations.RunPython.noop),
        migrations.RunPython(count_owners, migrations.RunPython.noop),
    ]
