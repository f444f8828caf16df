from datetime import datetime
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def take_over(apps: Any, _editor: Any) -> None:
    """What the gold kept of it so far."""
    shown = apps.get_model("annotation", "NamesShown")
    for gold in apps.get_model("annotation", "LabelSet").objects.filter(owner="gold", purpose="work"):
        for person, at in gold.sources.pop("revealed", {}).items():
            row = shown.objects.create(dialogue_id=gold.dialogue_id, person_id=int(person))
            shown.objects.filter(pk=row.pk).update(at=datetime.fromisoformat(at))
            gold.save(update_fields=["sources"])


class Migration(migrations.Migration):
    """Who has had the annotators' names shown is kept by dialogue: it can happen before there is gold."""

    dependencies = [("annotation", "0004_work_gate")]

    operations = [
        migrations.CreateModel(
            name="NamesShown",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "dialogue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="names_shown",
                        to="annotation.dialogue",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("dialogue", "person"), name="names_shown_once")],
            },
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
