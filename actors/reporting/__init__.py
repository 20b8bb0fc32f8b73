"""What any family can make of verified claims: a document, its charts, its Markdown. Pure."""
