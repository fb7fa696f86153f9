"""Seeded damage, and what must hold whatever was damaged: for the tests by the dozen, by hand by
the million (``tests.benchmarks.fuzz``)."""
