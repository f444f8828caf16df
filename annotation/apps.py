from pathlib import Path

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from django.conf import settings

        from annotation.questionnaires import register_folder

        if settings.PORTAL_QUESTIONNAIRES_DIR:
            register_folder(Path(settings.PORTAL_QUESTIONNAIRES_DIR))
