"""Rate limits, circuit breakers, deadlines, `Retry-After`: for models, searches and pages alike."""
