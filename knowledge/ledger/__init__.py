"""Records that accompany a change: the log for undo, quotas, idempotency keys, webhooks."""
