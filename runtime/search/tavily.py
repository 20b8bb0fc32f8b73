"""Tavily: web search and extraction, when it is configured."""
