"""Helpdesks that answer as their documentation says, and refuse what it does not have: none is the real one."""

from tests.runtime.intake.documented.base import DocumentedHelpdesk
from tests.runtime.intake.documented.chatwoot import Chatwoot
from tests.runtime.intake.documented.freescout import FreeScout
from tests.runtime.intake.documented.freshdesk import Freshdesk
from tests.runtime.intake.documented.glpi import Glpi
from tests.runtime.intake.documented.jira_sm import JiraServiceManagement
from tests.runtime.intake.documented.zammad import Zammad
from tests.runtime.intake.documented.zendesk import Zendesk

SYSTEMS: dict[str, type[DocumentedHelpdesk]] = {
    each.system: each for each in (Zammad, Zendesk, Freshdesk, JiraServiceManagement, Chatwoot, FreeScout, Glpi)
}
