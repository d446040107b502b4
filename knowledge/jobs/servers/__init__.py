"""Jobs on a server of their own, by `QUARRY_BROKER_URL`: one file for each kind of server."""
