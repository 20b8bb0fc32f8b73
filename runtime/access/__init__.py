"""Who may do what: roles, the principals that have them, and tokens by which programs prove who they are."""
