"""Count the words there are, and leave the old index of words: from here on words are packed.

Until its own job has packed a library, searches read its tsvectors one by one.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0019_packed_words")]

    operations = [
        migrations.RunSQL(
            """
            UPDATE knowledge_item SET word_count = counted.words
            FROM (
                SELECT item_id, sum(length) AS words FROM knowledge_chunktext GROUP BY item_id
            ) AS counted
            WHERE id = item_id;

            UPDATE knowledge_librarysize AS size SET fresh = chunks,
                words = coalesce((
                    SELECT sum(word_count) FROM knowledge_item AS item
                    WHERE item.owner_id = size.owner_id
                ), 0),
                languages = ARRAY(
                    SELECT DISTINCT coalesce(nullif(left(lower(language), 2), ''), 'en')
                    FROM knowledge_item AS item
                        JOIN knowledge_content AS content ON content.id = content_id
                    WHERE item.owner_id = size.owner_id AND chunk_count > 0
                );
            """,
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            """
            ALTER TABLE knowledge_wordpostings ALTER COLUMN entries SET STORAGE EXTERNAL;
            ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STATISTICS 0;
            DROP INDEX knowledge_text_words, knowledge_text_scope;
            CREATE INDEX knowledge_text_scope ON knowledge_chunktext (owner_id, item_id)
                INCLUDE (chunk_id);
            """,
            """
            DROP INDEX knowledge_text_scope;
            CREATE INDEX knowledge_text_scope ON knowledge_chunktext (owner_id, item_id);
            CREATE INDEX knowledge_text_words ON knowledge_chunktext
                USING gin ((ARRAY[owner_id]), tsv);
            ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STATISTICS 500;
            ALTER TABLE knowledge_wordpostings ALTER COLUMN entries SET STORAGE EXTENDED;
            """,
        ),
    ]
