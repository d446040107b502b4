"""Tables are emptied between tests that commit: of what each of them wrote, and of nothing else."""

from functools import cache

from django.db import connection, transaction
from psycopg import sql

STAYING = {"django_content_type", "auth_permission"}
"""Made of the code when it was migrated, and the same in every test."""
MANY = 1_000
"""Dead rows that are worth taking out of a table, as no autovacuum does it here."""


def empty_tables() -> None:
    """Delete every row, without the checks of keys, which all go.

    To truncate all tables and make permissions anew, as Django does, takes thirty times as long.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_find_filled())
        filled = [name for (name,) in cursor.fetchall()]
        cursor.execute("SET LOCAL session_replication_role = replica")
        swept = []
        for name in filled:
            cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
            if cursor.rowcount > MANY:
                swept.append(name)
    with connection.cursor() as cursor:
        for name in swept:
            cursor.execute(sql.SQL("VACUUM {}").format(sql.Identifier(name)))


@cache
def _find_filled() -> sql.Composed:
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
            sql.Literal(name), sql.Identifier(name)
        )
        for name in sorted(set(tables) - STAYING)
    )
