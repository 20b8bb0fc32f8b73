"""How the research agents think where no model does, and what holds a model to its words. Pure."""
