"""Settings, read from the environment. Everything that is stored lies under PORTAL_DATA_DIR."""

from __future__ import annotations

from pathlib import Path

from portal import env

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("PORTAL_DATA_DIR", str(BASE_DIR / ".data"))).expanduser().resolve()
# These commands only read files that are named, so that they leave no folder behind.
KEEPS_DATA = not env.is_command(
    "agreement_files", "evaluate_nlg", "evaluate_nlu", "evaluate_pol", "track_state", "verify_export"
)
if KEEPS_DATA:
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)  # transcripts are nobody else's business

DEBUG = env.flag("PORTAL_DEBUG")
SECRET_KEY = env.secret("PORTAL_SECRET_KEY", DATA_DIR / "secret_key") if KEEPS_DATA else env.passing_secret()
ALLOWED_HOSTS = env.words("PORTAL_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("PORTAL_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotation",
    "umls_linker",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "portal.middleware.content_security_policy",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# Writers take the lock when their transaction begins, so that two of them wait for each other instead of failing
# half-way. synchronous=FULL: what was acknowledged survives a power cut.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA_DIR / "portal.sqlite3",
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16000;",
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotation.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Cookies are marked secure when the portal is served over https, which a loopback demonstration is not.
HTTPS = env.flag("PORTAL_HTTPS")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = env.text("PORTAL_TIME_ZONE", "UTC")

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    "staticfiles": {"BACKEND": "portal.static.ModuleManifestStorage"},
}

# Uploads: one file at most, and all files of one request together, in bytes.
PORTAL_MAX_FILE_BYTES = env.number("PORTAL_MAX_FILE_BYTES", 20 * 2**20)
PORTAL_MAX_UPLOAD_BYTES = env.number("PORTAL_MAX_UPLOAD_BYTES", 100 * 2**20)
PORTAL_UPLOAD_DIR = DATA_DIR / "uploads"
PORTAL_EXPORT_DIR = DATA_DIR / "exports"
PORTAL_EVALUATION_DIR = DATA_DIR / "evaluations"
# The chat endpoint that evaluations may ask whether two texts mean the same; without an address none is offered.
PORTAL_CHAT_URL = env.text("PORTAL_CHAT_URL", "")
PORTAL_CHAT_MODEL = env.text("PORTAL_CHAT_MODEL", "")
PORTAL_CHAT_KEY = env.text("PORTAL_CHAT_KEY", "")
# An import or export of more utterances than this runs in a worker.
PORTAL_IMPORT_INLINE_UTTERANCES = env.number("PORTAL_IMPORT_INLINE_UTTERANCES", 3000)
PORTAL_QUESTIONNAIRES_DIR = env.text("PORTAL_QUESTIONNAIRES_DIR", "")
# The vocabulary of projects that have not chosen another one, by its name.
PORTAL_VOCABULARY = env.text("PORTAL_VOCABULARY", "embedded")
# An installed spaCy model that divides utterances into words; without one they are divided by rule.
PORTAL_SPACY_MODEL = env.text("PORTAL_SPACY_MODEL", "")
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**20
DATA_UPLOAD_MAX_NUMBER_FILES = 1000

# The broker: a Redis address, or by default a folder, so that nothing has to be installed.
CELERY_BROKER_URL = env.text("PORTAL_BROKER_URL", "filesystem://")
if CELERY_BROKER_URL == "filesystem://":
    CELERY_BROKER_URL = "filesystem://localhost"  # the broker's client warns about an address without a host
    _BROKER_DIR = DATA_DIR / "broker"
    for _name in ("messages", "processed", "control") if KEEPS_DATA else ():
        (_BROKER_DIR / _name).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_BROKER_DIR / "messages"),
        "data_folder_out": str(_BROKER_DIR / "messages"),
        "processed_folder": str(_BROKER_DIR / "processed"),
        "control_folder": str(_BROKER_DIR / "control"),
        "store_processed": False,
        "polling_interval": 0.25,
    }
else:
    # Whoever hands a message over is told soon that the broker is not there, instead of trying for ever.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.2,
        "interval_max": 0.2,
        "socket_connect_timeout": 5,
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "annotation.api.pagination.Pages",
    "PAGE_SIZE": 50,
    "EXCEPTION_HANDLER": "annotation.api.errors.handle",
}
REST_KNOX = {"TOKEN_TTL": None, "AUTO_REFRESH": False, "AUTH_HEADER_PREFIX": "Token"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Anamnesis",
    "VERSION": "1",
    "DESCRIPTION": "Projects, dialogues, labels, patient states and exports of the annotation portal.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # Names for lists of choices that several shapes use.
    "ENUM_NAME_OVERRIDES": {
        "EventKindEnum": "annotation.models.EventKind",
        "LabelSetStatusEnum": "annotation.models.Status",
        "ImportStatusEnum": "annotation.models.JobStatus",
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"refusals": {"()": "portal.logs.RefusalsInOneLine"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["refusals"]}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"annotation": {"level": "INFO"}, "umls_linker": {"level": "INFO"}},
}
