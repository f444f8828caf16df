"""Settings for the tests: a throw-away data folder, quick password hashes, tasks that run where they are called."""

import atexit
import os
import shutil
import tempfile

os.environ["PORTAL_DATA_DIR"] = tempfile.mkdtemp(prefix="portal-test-")
atexit.register(shutil.rmtree, os.environ["PORTAL_DATA_DIR"], ignore_errors=True)
os.environ.setdefault("PORTAL_SECRET_KEY", "only-for-tests")

from portal.settings import *  # noqa: E402, F403
from portal.settings import DATA_DIR, DATABASES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A file, not memory: the live server and the test are two threads on the same real database.
DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
DATABASES["default"]["CONN_MAX_AGE"] = 0
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
