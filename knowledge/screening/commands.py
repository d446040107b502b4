"""Passwords on a command line, where a shell's history and the process table keep them."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import is_password, is_random, is_stand_in
from knowledge.screening.secrets import secret

_VALUE = r"""(?:"(?P<double>[^"\n]{3,120})"|'(?P<single>[^'\n]{3,120})'|(?P<bare>[^\s"'`|;&<>]{3,200}))"""


def _command(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("VALUE", _VALUE), re.IGNORECASE)


_COMMANDS = tuple(
    (anchor, _command(pattern))
    for anchor, pattern in (
        ("--", r"--(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|pw|token|secret|api-?key|secret-key|access-key|auth-token|client-secret)(?:=|\s{1,3})VALUE"),
        ("/p", r"\bx?freerdp\S{0,3}\s[^\n]{0,200}?/p:VALUE"),
        ("sshpass", r"\bsshpass\s{1,3}-p\s{0,3}VALUE"),
        ("login", r"\blogin\b[^\n|;&]{0,200}?\s-p\s{0,3}VALUE"),
        ("mysql", r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,200}?\s-p(?=\S)VALUE"),
        ("mongo", r"\bmongo(?:sh|dump|restore|export|import)?\b[^\n|;&]{0,200}?\s-p\s{1,3}VALUE"),
        ("redis-cli", r"\bredis-cli\b[^\n|;&]{0,120}?\s-a\s{1,3}VALUE"),
        ("ldap", r"\bldap[a-z]{3,10}\b[^\n|;&]{0,200}?\s-w\s{1,3}VALUE"),
        ("mosquitto", r"\bmosquitto_[a-z]{3,4}\b[^\n|;&]{0,200}?\s(?-i:-P)\s{1,3}VALUE"),
        ("zip", r"\b(?:zip|unzip)\b[^\n|;&]{0,120}?\s(?-i:-P)\s{1,3}VALUE"),
        ("7z", r"\b7z[a-z]?\b[^\n|;&]{0,120}?\s-p(?=\S)VALUE"),
        ("pass:", r"-pass(?:in|out)?\s{1,3}['\"]?pass:VALUE"),
        ("sudo", r"\becho\s{1,3}(?:-n\s{1,3})?VALUE\s{0,3}\|\s{0,3}sudo\s[^\n]{0,40}-S"),
        ("stdin", r"\becho\s{1,3}(?:-n\s{1,3})?VALUE\s{0,3}\|[^\n|]{0,120}--password-stdin"),
        ("net", r"\bnet\s{1,3}user\s{1,3}\S{1,40}\s{1,3}VALUE\s{1,3}/"),
        ("net use", r"\bnet\s{1,3}use\s[^\n]{0,120}?/user:\S{1,60}\s{1,3}VALUE"),
        ("htpasswd", r"\bhtpasswd\s{1,3}-\w{0,4}b\w{0,4}\s[^\n]{1,120}\s\S{1,40}\s{1,3}VALUE\s*$"),
        ("chpasswd", r"\becho\s{1,3}['\"]?[\w.-]{1,40}:VALUE['\"]?\s{0,3}\|\s{0,3}(?:sudo\s)?chpasswd"),
        ("smbclient", r"-U\s{0,2}['\"]?[\w.\\/-]{1,60}%VALUE"),
        ("vncpasswd", r"\becho\s{1,3}VALUE\s{0,3}\|\s{0,3}vncpasswd"),
        ("lftp", r"\b(?:lftp|ncftp\w{0,4})\b[^\n]{0,120}?\s-u\s{0,3}['\"]?[^\s,'\"]{1,60}[, ]VALUE"),
        ("sqlcmd", r"\b(?:sqlcmd|bcp|osql)\b[^\n]{0,200}?\s(?-i:-P)\s{0,3}VALUE"),
        ("identified", r"\bidentified\s{1,3}(?:with\s\w{1,40}\s)?by\s{1,3}VALUE"),
        ("IDENTIFIED", r"\bidentified\s{1,3}(?:with\s\w{1,40}\s)?by\s{1,3}VALUE"),
        ("PASSWORD", r"\b(?:encrypted\s)?PASSWORD\s{1,3}(?=')VALUE"),
        ("password", r"\b(?:encrypted\s)?PASSWORD\s{1,3}(?=')VALUE"),
        ("machine", r"\bmachine\s{1,3}\S{1,120}\s{1,20}login\s{1,3}\S{1,80}\s{1,20}password\s{1,3}VALUE"),
        ("configure set", r"\bconfigure\s{1,3}set\s{1,3}[\w.]{0,60}(?:secret|key|token|password)\w{0,12}\s{1,3}VALUE"),
        ("config set", r"\bconfig\s{1,3}set\s{1,3}[^\s]{0,80}(?:secret|key|token|password)\w{0,12}[\s=]{1,3}VALUE"),
        ("WIFI:", r"WIFI:[^\n]{0,80}?P:(?P<bare>[^;\n]{6,80});"),
        ("community", r"\bsnmp-server\s{1,3}community\s{1,3}VALUE"),
        ("secret", r"\b(?:enable|username\s\S{1,40}(?:\sprivilege\s\d{1,2})?)\s{1,3}secret\s{1,3}(?:0\s{1,3})?VALUE"),
        ("password", r"\b(?:enable|username\s\S{1,40}(?:\sprivilege\s\d{1,2})?|neighbor\s\S{1,40})\s{1,3}password\s{1,3}(?:0\s{1,3})?VALUE"),
        ("server", r"\b(?:tacacs|radius)(?:-server)?\b[^\n]{0,60}?\skey\s{1,3}(?:0\s{1,3})?VALUE"),
        ("pre-shared-key", r"\bpre-shared-key\s{1,3}(?:ascii-text\s|local\s|remote\s|0\s){0,2}VALUE"),
        ("wifi", r"\bwifi\s{1,3}(?:connect|hotspot)\b[^\n]{0,80}?\spassword\s{1,3}VALUE"),
        ("wpa_passphrase", r"\bwpa_passphrase\s{1,3}(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|\S{1,40})\s{1,3}VALUE"),
        ("SecureString", r"\bConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?VALUE"),
        ("assword", r"assword:?\s?\*?[\"'}]{1,2}[;\s]{1,8}send\s{1,3}(?:--\s)?[\"'{](?P<bare>[^\"'}\n\\]{4,80})"),
        ("usermod", r"\b(?:chpasswd|usermod|useradd)\b[^\n|;&]{0,80}?\s-p\s{1,3}VALUE"),
        ("wget", r"--(?:http-|ftp-|proxy-)?password=VALUE"),
        ("openssl", r"\bopenssl\b[^\n|;&]{0,120}?\s-k\s{1,3}VALUE"),
        ("rar", r"\b(?:un)?rar\b[^\n|;&]{0,80}?\s-h?p(?=\S)VALUE"),
        ("setx", r"\bsetx?\s{1,3}\w{0,40}(?:password|secret|token|key)\s{1,3}VALUE"),
        ("ENV ", r"^[ \t]*ENV\s{1,3}\w{0,40}(?:password|passwd|secret|token|key)\s{1,3}VALUE"),
    )
)  # fmt: skip
_SIGN_IN = re.compile(
    r"(?:\bcurl\b|\bwget\b|\bhttp\b|\bxh\b|\bffmpeg\b)[^\n|;]{0,200}?\s(?:-u|--user|-a|--auth|--proxy-user|-U)(?:=|\s{0,3})"
    r"['\"]?[^\s:'\"]{0,80}:(?P<bare>[^\s'\"]{3,200})",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"\bauth\s?=\s?\(\s?[\"'][^\"'\n]{1,80}[\"']\s?,\s?[\"'](?P<bare>[^\"'\n]{3,120})[\"']\s?\)"
)
_PGPASS = re.compile(
    r"(?<![\w.*:/-])(?=[\w-]*[a-z.*])[\w.*-]{1,120}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w-]{1,60}:(?P<bare>[^\s:`'\"]{6,120})"
)

_OPTIONS = re.compile(r",[a-z]{2,12}=")
"""As in `--secret db,type=env`, which says where to find one."""


def find_in_commands(text: str) -> Iterator[Finding]:
    """Every password that a command was given as an argument."""
    for anchor, pattern in _COMMANDS:
        if anchor in text:
            yield from _live(pattern, text)
    for pattern in (_SIGN_IN, _PAIR, _PGPASS):
        yield from _live(pattern, text)


def _live(pattern: re.Pattern[str], text: str) -> Iterator[Finding]:
    for match in pattern.finditer(text):
        group = next(name for name, value in match.groupdict().items() if value)
        value = match[group].rstrip(".,;)")
        if _is_live(value):
            start = match.start(group)
            what = "a password in the arguments of a command"
            yield secret("command_line_password", what, (start, start + len(value)))


def _is_live(value: str) -> bool:
    if value.startswith(("-", "/")) or is_stand_in(value) or _OPTIONS.search(value):
        return False
    return is_password(value.replace("=", "+", 1)) or is_random(value)
