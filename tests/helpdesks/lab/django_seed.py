"""Makes what a new django-helpdesk needs, and prints the token of its account for Terminus."""

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from helpdesk.models import CustomField, Queue  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402

call_command("migrate", verbosity=0)
call_command("loaddata", "emailtemplate.json", verbosity=0)
users = get_user_model().objects
bot = users.create_user("agentbot", "bot@example.test", "x", is_staff=True, is_superuser=True)
helen = users.create_user("helen", "helen@example.test", "x", is_staff=True, is_superuser=True)
Queue.objects.create(title="Support", slug="support", allow_public_submission=True)
CustomField.objects.create(
    name="tags", label="Tags", data_type="varchar", max_length=200, required=False, staff_only=True, ordering=1
)
print(Token.objects.create(user=helen).key, bot.id, Token.objects.create(user=bot).key)
