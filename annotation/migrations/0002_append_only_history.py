"""The database itself refuses to change an event of the history."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER label_event_append_only BEFORE UPDATE ON annotation_labelevent
BEGIN SELECT RAISE(ABORT, 'the history of labels is append-only'); END
"""
POSTGRESQL = """
CREATE FUNCTION refuse_label_event_update() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the history of labels is append-only'; END $$;
CREATE TRIGGER label_event_append_only BEFORE UPDATE ON annotation_labelevent
FOR EACH ROW EXECUTE FUNCTION refuse_label_event_update();
"""
DROP_POSTGRESQL = """
DROP TRIGGER label_event_append_only ON annotation_labelevent; DROP FUNCTION refuse_label_event_update();
"""


def create(apps, schema_editor):
    schema_editor.execute(SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL)


def drop(apps, schema_editor):
    sqlite = "DROP TRIGGER label_event_append_only"
    schema_editor.execute(sqlite if schema_editor.connection.vendor == "sqlite" else DROP_POSTGRESQL)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
