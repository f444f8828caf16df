from django.db import migrations, models


class Migration(migrations.Migration):
    """The answers to a concern become a thread in which its annotator can reply."""

    dependencies = [("annotation", "0002_qualification_and_review")]

    operations = [
        migrations.RenameModel(old_name="ConcernAnswer", new_name="ConcernMessage"),
        migrations.AlterField(
            model_name="concernmessage",
            name="concern",
            field=models.ForeignKey(
                on_delete=models.deletion.PROTECT, related_name="messages", to="annotation.concern"
            ),
        ),
        migrations.AddField(
            model_name="concernmessage", name="is_reply", field=models.BooleanField(default=False)
        ),
        migrations.AddField(
            model_name="concernmessage", name="key", field=models.CharField(blank=True, max_length=64)
        ),
        migrations.AlterModelOptions(name="concernmessage", options={"ordering": ["created_at", "id"]}),
        migrations.AddConstraint(
            model_name="concernmessage",
            constraint=models.UniqueConstraint(
                condition=~models.Q(key=""), fields=("concern", "key"), name="concern_message_key_once"
            ),
        ),
    ]
