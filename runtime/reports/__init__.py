"""Reports as files: Markdown, HTML, DOCX, PDF."""
