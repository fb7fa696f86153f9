"""What the benchmarks of spans share: usual splitters, indexes, labelled texts and figures."""
