from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("umls_linker", "0002_decisions_kept"),
    ]

    operations = [
        migrations.AlterField(model_name="candidate", name="name", field=models.TextField()),
        migrations.AlterField(model_name="candidate", name="matched", field=models.TextField()),
        migrations.AlterField(model_name="shortlisting", name="name", field=models.TextField()),
        migrations.AlterField(model_name="decision", name="name", field=models.TextField(blank=True)),
        migrations.AddField(
            model_name="conceptquestion",
            name="seen_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
