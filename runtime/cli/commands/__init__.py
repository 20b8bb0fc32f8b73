"""
The commands of `terminus`, or `python -m runtime`: a module here is a command, and nothing else names it.

A module has

- `SUMMARY`: what the command does, for the list of commands;
- `LOG`, if its log does not go to the file: "stderr", or "errors" for no more than errors, on stderr;
- `arguments(parser)`: declares what it takes, and imports nothing heavy, for it serves `--help`, too;
- `run(arguments, settings) -> int`, which may be async: does it and returns the exit status.
"""
