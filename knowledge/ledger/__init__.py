"""What is written down beside a change: the log that undo reads, quotas, keys of repeated calls, webhooks."""
