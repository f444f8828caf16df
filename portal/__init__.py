"""The Django project: settings, routes, and the Celery application."""

from portal.celery import app as celery_app

__all__ = ["celery_app"]
