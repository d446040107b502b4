"""What is kept beside a change: the log for undo, quotas, idempotency keys, webhooks."""
