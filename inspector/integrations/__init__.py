"""What agents load so that pins survive their own compaction: put in place and taken away."""
