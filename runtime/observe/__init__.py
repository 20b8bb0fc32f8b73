"""What can be seen of a run and of a process: logs, figures, traces, recordings and replays."""
