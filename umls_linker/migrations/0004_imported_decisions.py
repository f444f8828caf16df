import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("umls_linker", "0003_whole_names_and_seen_answers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="decision",
            name="origin",
            field=models.CharField(
                default="review",
                help_text="review, migration to a new vocabulary, restored, or imported with an export.",
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="StatedAttribution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("version", models.CharField(blank=True, max_length=120)),
                ("attribution", models.TextField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stated_attributions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name", "version"), name="stated_attribution_once")
                ],
            },
        ),
    ]
