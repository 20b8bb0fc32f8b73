"""Settings of a django-helpdesk in the folder DH_FOLDER. Runs in a venv of its own."""

import os
from pathlib import Path

SECRET_KEY = "for tests on loopback only"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
SITE_ID = 1
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
    "django.contrib.messages", "django.contrib.staticfiles", "django.contrib.sites", "django.contrib.humanize",
    "rest_framework", "rest_framework.authtoken", "helpdesk",
]  # fmt: skip
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]  # fmt: skip
ROOT_URLCONF = "django_urls"
CONTEXT = "django.template.context_processors.request", "django.contrib.auth.context_processors.auth"
MESSAGES = "django.contrib.messages.context_processors.messages"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [*CONTEXT, MESSAGES]},
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": Path(os.environ["DH_FOLDER"]) / "db.sqlite3",
        "OPTIONS": {"timeout": 20},
    }
}
STATIC_URL = "/static/"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
HELPDESK_TEAMS_MODE_ENABLED = False
HELPDESK_ACTIVATE_API_ENDPOINT = True
LOGIN_URL = "/login/"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
}
