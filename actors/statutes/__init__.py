"""Articles of law: how they are named, which version is in force, and what belongs to one country alone."""
