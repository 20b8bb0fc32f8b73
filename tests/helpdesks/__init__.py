"""Real helpdesks on loopback, started by the tests that need them."""
