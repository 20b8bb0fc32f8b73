"""How long tests wait on a machine that others use, too."""

import time

HANGS_SECONDS = 60.0
"""What is not done by then hangs. It fails a test and measures nothing: what it guards takes a second at most."""
PROBE_SECONDS = 0.05


def promised(seconds: float) -> float:
    """Seconds that the product promises where it has a processor to itself, as long as they are on this machine now."""
    began, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < PROBE_SECONDS:
        pass
    return seconds * max(1.0, (time.perf_counter() - began) / PROBE_SECONDS)
