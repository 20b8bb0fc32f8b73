"""The workflow core: tables, the rules that move a run through one, and the Orchestrator that carries them out."""
