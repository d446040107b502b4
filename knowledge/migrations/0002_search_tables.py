"""What the two narrow search tables have beyond Django's reach: storage, bits and their indexes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE knowledge_chunkembedding
                ALTER COLUMN vector SET STORAGE PLAIN,
                ADD COLUMN bits bit varying
                    GENERATED ALWAYS AS (binary_quantize(vector)::bit varying) STORED;
            CREATE INDEX knowledge_embedding_scope ON knowledge_chunkembedding
                (owner_id, generation_id, item_id) INCLUDE (chunk_id, bits);

            ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STORAGE MAIN;
            CREATE INDEX knowledge_text_words ON knowledge_chunktext
                USING gin ((ARRAY[owner_id]), tsv);
            CREATE INDEX knowledge_text_scope ON knowledge_chunktext (owner_id, item_id);
            """,
            """
            DROP INDEX knowledge_text_scope, knowledge_text_words, knowledge_embedding_scope;
            ALTER TABLE knowledge_chunktext ALTER COLUMN tsv SET STORAGE EXTENDED;
            ALTER TABLE knowledge_chunkembedding
                DROP COLUMN bits,
                ALTER COLUMN vector SET STORAGE EXTERNAL;
            """,
        )
    ]
