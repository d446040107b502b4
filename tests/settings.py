"""The product's settings with a data folder of its own, fast hashes and no vendor."""

import os

os.environ.setdefault("QUARRY_HOME", "var/test")
os.environ.update({"QUARRY_EMBEDDER": "fake", "QUARRY_BROKER_URL": "stub://", "VOYAGE_API_KEY": ""})

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
