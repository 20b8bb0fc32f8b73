"""Reading pages: safe by construction, within limits, nothing twice."""
