"""One process: its ports opened, its runs begun, followed, resumed and ended; what every front end calls."""
