"""The product's settings with a data folder of its own, fast hashes and no vendor."""

import os

os.environ.setdefault("QUARRY_HOME", "var/test")
os.environ.update(
    {
        "QUARRY_EMBEDDER": "fake",
        "QUARRY_TRANSCRIBER": "fake",
        "QUARRY_SUMMARIZER": "fake",
        "QUARRY_ANSWERER": "fake",
        "QUARRY_BROKER_URL": "stub://",
        "QUARRY_ALLOWED_PRIVATE_HOSTS": "",
        "QUARRY_EGRESS_PROXY": "",
        "VOYAGE_API_KEY": "",
        "ASSEMBLYAI_API_KEY": "",
        "GLADIA_API_KEY": "",
        "ANTHROPIC_API_KEY": "",
        "QUARRY_S3_BUCKET": "",
    }
)

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Each new client would otherwise look at every static file before its first call.
WHITENOISE_AUTOREFRESH = True
