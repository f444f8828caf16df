from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def keep_one_standing(apps: Any, _editor: Any) -> None:
    """From now on a person is let through once at a time: an earlier decision counts as replaced by the next."""
    overrides = apps.get_model("annotation", "QualificationOverride")
    newer: dict[tuple[int, int], Any] = {}
    for row in overrides.objects.order_by("-decided_at", "-id"):
        key = (row.project_id, row.annotator_id)
        if key in newer:
            row.revoked_at, row.revoked_by_id = newer[key].decided_at, newer[key].decided_by_id
            row.save()
        newer[key] = row


class Migration(migrations.Migration):
    """The test guards real work by itself; decisions about it can be revoked; attempts can be limited.

    Where a test dialogue has gold, new work waits for the test from now on, whatever was ticked before. A project in
    which nobody was to wait can have its test switched off, with a reason.
    """

    dependencies = [("annotation", "0003_concern_messages")]

    operations = [
        migrations.RemoveField(model_name="project", name="needs_test"),
        migrations.AddField(
            model_name="project",
            name="attempt_limit",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                help_text="How often a person may take the test; empty for as often as they like.",
            ),
        ),
        migrations.AlterModelOptions(name="qualificationoverride", options={"ordering": ["-decided_at", "-id"]}),
        migrations.AlterField(
            model_name="qualificationoverride",
            name="annotator",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="overrides",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="qualificationoverride",
            name="decided_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="qualificationoverride", name="revoked_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="qualificationoverride",
            name="revoked_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.RunPython(keep_one_standing, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="qualificationoverride",
            constraint=models.UniqueConstraint(
                fields=["project", "annotator"], condition=Q(revoked_at=None), name="override_stands_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationoverride",
            constraint=models.UniqueConstraint(
                fields=["project"], condition=Q(revoked_at=None, annotator=None), name="override_of_all_stands_once"
            ),
        ),
        migrations.CreateModel(
            name="ExtraAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("reason", models.TextField()),
                ("decided_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="extra_attempts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="extra_attempts",
                        to="annotation.project",
                    ),
                ),
            ],
            options={"ordering": ["-decided_at", "-id"]},
        ),
        migrations.AddConstraint(
            model_name="extraattempt",
            constraint=models.UniqueConstraint(fields=["project", "annotator", "number"], name="extra_attempt_once"),
        ),
    ]
