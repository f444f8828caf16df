from django.apps import AppConfig


class UmlsLinkerConfig(AppConfig):
    name = "umls_linker"
    verbose_name = "Concept linking"
