"""Takes a mail from its input into django-helpdesk, as its mailbox does."""

import logging
import sys

import django

django.setup()

from helpdesk.email import extract_email_metadata  # noqa: E402
from helpdesk.models import Queue  # noqa: E402

assert extract_email_metadata(sys.stdin.read(), Queue.objects.get(), logging.getLogger()) is not None
