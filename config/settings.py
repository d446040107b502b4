"""Every setting of Quarry, and the only place where the environment is read."""

import os
from pathlib import Path

from django.urls import reverse_lazy

from config import env, machine
from config.prices import parse_prices
from tokens.hourly import parse_limits

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

# Where it runs ---------------------------------------------------------------------------

PRODUCTION = env.flag("QUARRY_PRODUCTION")
DEBUG = env.flag("QUARRY_DEBUG")
QUARRY_RUN_FOLDER = Path(env.text("QUARRY_RUN_FOLDER") or BASE_DIR / "var" / "running").resolve()
QUARRY_HOME = Path(env.text("QUARRY_HOME") or env.home_beside(QUARRY_RUN_FOLDER, BASE_DIR / "var"))
QUARRY_HOME = QUARRY_HOME.resolve()
SECRET_KEY = env.secret_key("QUARRY_SECRET_KEY", home=QUARRY_HOME, required=PRODUCTION)
ALLOWED_HOSTS = env.words("QUARRY_ALLOWED_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.words("QUARRY_TRUSTED_ORIGINS")

SETTINGS_GIVEN = env.names_of_given_settings()
SERVED_AT = env.address_beside(QUARRY_RUN_FOLDER, QUARRY_HOME)  # `up` puts its own

# The application -------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold",
    # Its pages are loaded with the URLs: a command needs none of them.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "accounts.apps.SocialAccounts",
    "allauth.socialaccount.providers.openid_connect",
    "oauth2_provider",
    "knowledge",
    "tokens",
    "mcp_gateway",
    "accounts",
    "django_htmx",
    "console",
]
MIDDLEWARE = [
    "config.middleware.RequestId",
    "config.middleware.Cors",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.page_policy.SecureCookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.page_policy.PagePolicy",
    "tokens.oauth.challenges.NameMetadata",
    "tokens.middleware.Activity",
]
# What only pages, cookies and static files need, which a call with a token has not.
_FOR_BROWSERS = {
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
}
TOKEN_MIDDLEWARE = [each for each in MIDDLEWARE if each not in _FOR_BROWSERS]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.navigation.frame",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "config.formats"
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
LOGIN_URL = reverse_lazy("account_login")
LOGIN_REDIRECT_URL = reverse_lazy("console:library")
# A text of 500,000 characters can take twelve bytes a character in escaped JSON.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024

# Data ------------------------------------------------------------------------------------

DATABASES = {
    "default": {
        "ENGINE": "config.postgres",
        **(env.database("DATABASE_URL") or {"NAME": "quarry", "EMBEDDED_HOME": QUARRY_HOME}),
        "CONN_HEALTH_CHECKS": False,  # the backend checks what it takes from the pool
    }
}
QUARRY_WEB_PROCESSES = env.number_from("QUARRY_WEB_PROCESSES", machine.web_processes())
# Twenty connections are left to workers and commands.
QUARRY_DB_POOL = env.number_from(
    "QUARRY_DB_POOL", max(8, min(20, (machine.CONNECTIONS - 20) // QUARRY_WEB_PROCESSES)), least=8
)
DATABASES["default"].setdefault("OPTIONS", {}).update(
    pool={"min_size": 0, "max_size": QUARRY_DB_POOL, "timeout": 10},
    prepare_threshold=1,  # what a connection is asked a second time; the ORM's queries never are
)

REDIS_URL = env.text("REDIS_URL")
_REDIS = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
# Failed sign-ins and used codes are counted here by allauth, so every process must see the same.
_SHARED_TABLE = {
    "BACKEND": "django.core.cache.backends.db.DatabaseCache",
    "LOCATION": "quarry_cache",
    "OPTIONS": {"MAX_ENTRIES": 100_000},  # a flood of wrong names must not push counters out
}
CACHES = {
    "default": _REDIS if REDIS_URL else _SHARED_TABLE,
    "limits": _REDIS if REDIS_URL else {"BACKEND": "config.counters.PostgresCounters"},
}
RATELIMIT_USE_CACHE = "limits"
QUARRY_LIMITS = env.parse_with("QUARRY_LIMITS", parse_limits)

# Jobs: empty is the Postgres broker ------------------------------------------------------

QUARRY_BROKER_URL = env.text("QUARRY_BROKER_URL")
ACTOR_MODULES = [
    "knowledge.indexing.actors",
    "knowledge.ingest.followups",
    "knowledge.ingest.contents",
    "knowledge.ingest.sweeps",
    "knowledge.moderation.actors",
    "knowledge.trust.actors",
    "knowledge.crawling.actors",
    "knowledge.feeds.actors",
    "knowledge.imports.actors",
    "knowledge.exchange.archive_imports",
    "knowledge.exchange.actors",
    "tokens.oauth.actors",
]

# Embeddings ------------------------------------------------------------------------------

VOYAGE_API_KEY = env.text("VOYAGE_API_KEY")
VOYAGE_BASE_URL = env.text("VOYAGE_BASE_URL")
QUARRY_EMBEDDER = env.text("QUARRY_EMBEDDER") or ("voyage" if VOYAGE_API_KEY else "granite")

# A second look at the first candidates of a search: off unless it is named --------------------

QUARRY_RERANKER = env.text("QUARRY_RERANKER")
QUARRY_RERANK_MS = env.number_from("QUARRY_RERANK_MS", 0, least=0)
QUARRY_RERANK_CANDIDATES = env.number_from("QUARRY_RERANK_CANDIDATES", 20, least=2)

# Servers that speak OpenAI's protocol: one for all jobs, or another for one of them ----------

QUARRY_OPENAI_URL = env.text("QUARRY_OPENAI_URL")
QUARRY_OPENAI_KEY = env.text("QUARRY_OPENAI_KEY")
QUARRY_EMBEDDER_URL = env.text("QUARRY_EMBEDDER_URL")
QUARRY_EMBEDDER_KEY = env.text("QUARRY_EMBEDDER_KEY")
QUARRY_SUMMARIZER_URL = env.text("QUARRY_SUMMARIZER_URL")
QUARRY_SUMMARIZER_KEY = env.text("QUARRY_SUMMARIZER_KEY")
QUARRY_ANSWERER_URL = env.text("QUARRY_ANSWERER_URL")
QUARRY_ANSWERER_KEY = env.text("QUARRY_ANSWERER_KEY")
QUARRY_TRANSCRIBER_URL = env.text("QUARRY_TRANSCRIBER_URL")
QUARRY_TRANSCRIBER_KEY = env.text("QUARRY_TRANSCRIBER_KEY")
QUARRY_OPENAI_CONTEXT = env.number_from("QUARRY_OPENAI_CONTEXT", 16_000, least=4_000)
QUARRY_PRICES = env.parse_with("QUARRY_PRICES", parse_prices)

# Links: what may be fetched, and how ------------------------------------------------------

QUARRY_ALLOWED_PRIVATE_HOSTS = env.words("QUARRY_ALLOWED_PRIVATE_HOSTS")
QUARRY_EGRESS_PROXY = env.text("QUARRY_EGRESS_PROXY")
QUARRY_YOUTUBE_PROXY = env.text("QUARRY_YOUTUBE_PROXY")
QUARRY_MAX_DOWNLOAD_MB = env.number("QUARRY_MAX_DOWNLOAD_MB", 500)

# Documentation sources: how politely they are crawled, and how often -----------------------

QUARRY_CRAWL_DELAY_SEC = env.seconds("QUARRY_CRAWL_DELAY_SEC", 0.5)
QUARRY_SOURCE_REFRESH_DAYS = env.number("QUARRY_SOURCE_REFRESH_DAYS", 7)
QUARRY_FEED_POLL_MINUTES = env.number("QUARRY_FEED_POLL_MINUTES", 60)

# Speech ----------------------------------------------------------------------------------

ASSEMBLYAI_API_KEY = env.text("ASSEMBLYAI_API_KEY")
ASSEMBLYAI_BASE_URL = env.text("ASSEMBLYAI_BASE_URL")
GLADIA_API_KEY = env.text("GLADIA_API_KEY")
GLADIA_BASE_URL = env.text("GLADIA_BASE_URL")
QUARRY_WHISPER_MODEL = env.text("QUARRY_WHISPER_MODEL")
QUARRY_TRANSCRIBER = env.text("QUARRY_TRANSCRIBER") or (
    "assemblyai" if ASSEMBLYAI_API_KEY else "gladia" if GLADIA_API_KEY else "whisper"
)

# Summaries and answers -------------------------------------------------------------------

ANTHROPIC_API_KEY = env.text("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = env.text("ANTHROPIC_BASE_URL")
QUARRY_SUMMARY_MODEL = env.text("QUARRY_SUMMARY_MODEL")
QUARRY_SUMMARIZER = env.text("QUARRY_SUMMARIZER") or "claude"
QUARRY_ANSWER_MODEL = env.text("QUARRY_ANSWER_MODEL")
QUARRY_ANSWERER = env.text("QUARRY_ANSWERER") or "claude"

# Files: a folder of QUARRY_HOME unless there is a bucket ----------------------------------

QUARRY_PUBLIC_URL = env.text("QUARRY_PUBLIC_URL").rstrip("/")
QUARRY_MAX_UPLOAD_MB = env.number("QUARRY_MAX_UPLOAD_MB", 500)
QUARRY_S3_BUCKET = env.text("QUARRY_S3_BUCKET")
QUARRY_S3_ENDPOINT = env.text("QUARRY_S3_ENDPOINT")
QUARRY_S3_REGION = env.text("QUARRY_S3_REGION") or "us-east-1"
QUARRY_S3_ACCESS_KEY = env.text("QUARRY_S3_ACCESS_KEY")
QUARRY_S3_SECRET_KEY = env.text("QUARRY_S3_SECRET_KEY")

# REST ------------------------------------------------------------------------------------

QUARRY_CORS_ORIGINS = env.words("QUARRY_CORS_ORIGINS")
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["tokens.rest.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["tokens.rest.HourlyThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["knowledge.api.parsing.JSONBody"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "knowledge.api.parsing.AlwaysJSON",
    "DEFAULT_SCHEMA_CLASS": "knowledge.api.openapi_docs.Schema",
    "EXCEPTION_HANDLER": "knowledge.api.errors.answer_error",
    "UNAUTHENTICATED_USER": None,
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Quarry",
    "DESCRIPTION": "The knowledge base over REST. Send a token as `Authorization: Bearer qry_…`.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "Capability": ["read", "write"],
        "ContextFacet": "knowledge.memory.facets.FACETS",
        "ContextIntent": "knowledge.memory.facets.INTENTS",
        "ArchiveState": "knowledge.models.ArchiveState",
        "CrawlState": "knowledge.models.CrawlState",
        "ErrorCode": "knowledge.api.errors.CODES",
        "EstimatedState": "knowledge.api.shapes.ESTIMATED_STATES",
        "ExportState": "knowledge.models.ExportState",  # and of contents: the values are the same
        "ExploreMode": "knowledge.memory.exploring.MODES",
        "IndexStatus": "knowledge.models.IndexStatus",
        "IngestKind": "knowledge.ingest.adding.KINDS",
        "ItemState": "knowledge.api.shapes.ITEM_STATES",
        "ItemType": "knowledge.models.ItemType",
        "MatchedBy": ["word", "meaning", "description"],
        "MemoryType": "knowledge.memory.remembering.ENTITY_TYPES",
        "PageState": "knowledge.models.PageState",
        "QuarantineReason": "knowledge.models.QuarantineReason",
        "RelationDirection": "knowledge.memory.traversal.DIRECTIONS",
        "RelationType": "knowledge.models.RelationType",
        "ResultOrigin": "knowledge.api.memory_search_shapes.ORIGINS",
        "SearchMode": "knowledge.retrieval.search.MODES",
        "TaskAction": "knowledge.memory.actions.ACTIONS",
        "TaskPriority": "knowledge.models.attributes.PRIORITIES",
        "Toolset": "tokens.models.Toolset",
        "TranscriptionStatus": "knowledge.models.TranscriptionStatus",
        "TransformState": "knowledge.models.TransformState",
        "UnitType": "knowledge.registry.schemas.UNIT_TYPES",
        "Verdict": "knowledge.models.Verdict",
        "VisibleBy": "knowledge.api.shapes.VISIBLE_BY",
        "Visibility": "knowledge.models.Visibility",
        "WebhookEvent": "knowledge.models.WebhookEvent",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "knowledge.api.openapi_docs.complete",
    ],
}

# Metrics: without a token, for this machine alone -----------------------------------------

QUARRY_METRICS_TOKEN = env.text("QUARRY_METRICS_TOKEN")

# MCP -------------------------------------------------------------------------------------

QUARRY_TOKEN = env.text("QUARRY_TOKEN")
MCP_ALLOWED_HOSTS = ALLOWED_HOSTS

# Fairness: how much of the server one caller may hold ---------------------------------------

# Of the connections three in five are for calls that read and calls that write, in halves, so that
# neither waits for the other. The rest is for looking up tokens, health checks, files and pages.
CALLS_AT_ONCE = QUARRY_DB_POOL * 3 // 10
_KEPT = QUARRY_DB_POOL - 2 * CALLS_AT_ONCE
THREADS = {
    "calls": 2 * CALLS_AT_ONCE,
    "lookups": _KEPT // 4,
    "health": 1,
    "files": _KEPT // 4,
    "pages": _KEPT - 2 * (_KEPT // 4) - 1,
    "streams": 16,
}
# All calls share one interpreter: more that compute at once would each be slower.
TURNS = min(2 * CALLS_AT_ONCE, max(4, len(os.sched_getaffinity(0))))
QUARRY_CALLS_PER_OWNER = env.number_from("QUARRY_CALLS_PER_OWNER", max(1, CALLS_AT_ONCE - 2))
QUARRY_CALLS_PER_TOKEN = env.number_from("QUARRY_CALLS_PER_TOKEN", max(1, CALLS_AT_ONCE - 3))
QUARRY_BUSY_WAIT_SEC = env.seconds("QUARRY_BUSY_WAIT_SEC", 5)
QUARRY_TRUSTED_PROXIES = env.networks("QUARRY_TRUSTED_PROXIES", ["127.0.0.1", "::1"])
QUARRY_CONNECTIONS = env.number_from("QUARRY_CONNECTIONS", 2_000)
QUARRY_CONNECTIONS_PER_ADDRESS = env.number_from("QUARRY_CONNECTIONS_PER_ADDRESS", 256)
QUARRY_HEADER_SEC = env.time_limit("QUARRY_HEADER_SEC", 10)
QUARRY_BODY_SEC = env.time_limit("QUARRY_BODY_SEC", 30)
QUARRY_ANSWER_SEC = env.time_limit("QUARRY_ANSWER_SEC", 30)

# Safety ----------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("QUARRY_BEHIND_PROXY") else None
)

# Accounts: everybody is invited; second factors; sign-in elsewhere by OpenID Connect -----------

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = bool(env.text("QUARRY_SMTP_URL"))
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_USER_MODEL_EMAIL_FIELD = "email"
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if PRODUCTION else "http"
ACCOUNT_RATE_LIMITS = {"login_failed": "20/m/ip,8/5m/key"}
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if env.flag("QUARRY_BEHIND_PROXY") else 0
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody signs up with another's address, and mail is optional
MFA_TOTP_ISSUER = "Quarry"
# Browsers know no certificate of this machine's own address.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION
USERSESSIONS_TRACK_ACTIVITY = True
SOCIALACCOUNT_ADAPTER = "accounts.adapters.SocialAccountAdapter"
SOCIALACCOUNT_PROVIDERS = env.oidc_providers()
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_LOGIN_ON_GET = False
QUARRY_OIDC_SIGNUP = env.flag("QUARRY_OIDC_SIGNUP")

# Mail: none unless there is a server for it ------------------------------------------------

EMAIL_BACKEND, EMAIL_SERVER = env.mail("QUARRY_SMTP_URL")
EMAIL_HOST = EMAIL_SERVER.get("host", "localhost")
EMAIL_PORT = EMAIL_SERVER.get("port", 25)
EMAIL_HOST_USER = EMAIL_SERVER.get("user", "")
EMAIL_HOST_PASSWORD = EMAIL_SERVER.get("password", "")
EMAIL_USE_TLS = EMAIL_SERVER.get("starttls", False)
EMAIL_USE_SSL = EMAIL_SERVER.get("tls", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.text("QUARRY_MAIL_FROM") or "quarry@localhost"

# OAuth 2.1 for MCP clients -----------------------------------------------------------------

OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth2_provider.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "tokens.Grant"
OAUTH2_PROVIDER = {
    "SCOPES": {"kb:read": "Read and search", "kb:write": "Add, change and delete"},
    "DEFAULT_SCOPES": ["kb:read", "kb:write"],
    "OAUTH2_VALIDATOR_CLASS": "tokens.oauth.validator.Validator",
    "OIDC_ISS_ENDPOINT": QUARRY_PUBLIC_URL,
    "ACCESS_TOKEN_GENERATOR": "tokens.oauth.secrets.new_access_token",
    "REFRESH_TOKEN_GENERATOR": "tokens.oauth.secrets.new_refresh_token",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 3600,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "PKCE_REQUIRED": True,
    **{
        f"COMPLIANT_BCP_RFC9700_{name}": True
        for name in (
            *("IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT"),
            *("AUTHZ_RESPONSE_ISS", "TOKEN_STORAGE", "REFRESH_TOKEN", "PKCE_REQUIRED"),
            "REDIRECT_URI_MATCHING",
        )
    },
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http", "cursor", "vscode", "vscode-insiders"],
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "tokens.oauth.client_documents.GuardedFetcher",
}

# Logs ------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "TEXT": {"()": "knowledge.monitoring.logs.TextFormatter"},
        "JSON": {"()": "knowledge.monitoring.logs.JsonFormatter"},
    },
    "filters": {
        "expected job failures": {"()": "knowledge.monitoring.logs.ExpectedJobFailures"},
        "wrong hosts": {"()": "knowledge.monitoring.logs.WrongHosts"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.one_of("QUARRY_LOG_FORMAT", ("TEXT", "JSON"), "TEXT"),
        }
    },
    "loggers": {
        "django.request": {"level": "ERROR"},  # a caller's mistake is told to the caller
        "django.security.DisallowedHost": {"filters": ["wrong hosts"]},
        "dramatiq.worker.WorkerThread": {"filters": ["expected job failures"]},
        "httpx2": {"level": "WARNING"},  # it would log addresses, with the passwords in them
    },
    "root": {
        "handlers": ["stderr"],
        "level": env.one_of("QUARRY_LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), "WARNING"),
    },
}

# The admin's looks -----------------------------------------------------------------------

UNFOLD = {
    "SITE_TITLE": "Quarry",
    "SITE_HEADER": "Quarry",
    "SITE_SUBHEADER": "A knowledge base for agents",
    "SITE_SYMBOL": "landscape",
    "SITE_URL": None,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"navigation": "config.navigation.sections"},
    "DASHBOARD_CALLBACK": "tokens.admin.dashboard.with_figures",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": "config.navigation.favicon"}
    ],
    "STYLES": ["config.navigation.stylesheet"],
    "SCRIPTS": ["config.navigation.script"],
    "COLORS": {
        "primary": {
            "50": "oklch(97.5% .012 250)",
            "100": "oklch(94.5% .03 250)",
            "200": "oklch(89.5% .055 250)",
            "300": "oklch(82% .09 250)",
            "400": "oklch(71% .13 250)",
            "500": "oklch(66% .14 250)",
            "600": "oklch(52% .15 250)",
            "700": "oklch(45% .135 250)",
            "800": "oklch(39% .11 250)",
            "900": "oklch(34% .09 250)",
            "950": "oklch(26% .07 250)",
        },
    },
}
