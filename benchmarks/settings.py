"""The portal's own settings, and beside them one view that only inserts a row."""

from portal.settings import *  # noqa: F403
from portal.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.bare"]
ROOT_URLCONF = "benchmarks.bare.urls"
