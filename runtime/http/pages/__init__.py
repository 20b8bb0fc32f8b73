"""The pages for people: rendered here, by jinja2; forms work without a script, and one script follows what happens."""
