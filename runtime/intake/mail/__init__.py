"""A mailbox as a helpdesk: a thread is a ticket. Of the extra `mail`; imported where a mailbox is connected."""
