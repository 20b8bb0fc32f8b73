"""The legal family: what a question asks for, specialists side by side, and articles that are in force."""
