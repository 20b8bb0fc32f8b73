"""Tickets come in from helpdesks, and resolutions go back: any helpdesk with an HTTP interface, by configuration."""
