from django.apps import AppConfig


class UmlsLinkerConfig(AppConfig):
    name = "umls_linker"
    verbose_name = "Concept linking"

    def ready(self) -> None:
        from annotation.services.concept_linking import register
        from umls_linker.linker import LINKER

        register(LINKER)
