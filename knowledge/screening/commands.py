"""Passwords on a command line, where a shell's history and the process table keep them."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterable, Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import is_password, is_random, is_stand_in
from knowledge.screening.secrets import secret

_VALUE = r"""(?:"(?P<double>[^"\n]{3,120})"|'(?P<single>[^'\n]{3,120})'|(?P<bare>[^\s"'`|;&<>]{3,200}))"""


def _command(pattern: str) -> re.Pattern[str]:
    on_one_line = pattern.replace(r"\s{1,3}", r"[ \t]{1,3}")
    return re.compile(on_one_line.replace("VALUE", _VALUE), re.IGNORECASE | re.MULTILINE)


_COMMANDS = tuple(
    (anchor, _command(pattern))
    for anchor, pattern in (
        ("--", r"--(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|pw|token|secret|api-?key|secret-key|access-key|auth-token|client-secret)(?:=|\s{1,3})VALUE"),
        (" -", r"(?<=\s)-(?:secret|password|passwd|passphrase|token|apikey|api-key)\s{1,3}VALUE"),
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
        ("passwd", r"\b(?:ht|mosquitto_)passwd\s{1,3}(?:-\w{1,6}\s{1,3}){0,2}-\w{0,4}b\w{0,4}[ \t][^\n]{1,120}[ \t]\S{1,40}\s{1,3}VALUE(?=\s|$)"),
        ("passwd", r"\b(?:openssl\s{1,3}passwd|mkpasswd|slappasswd)\b[^\n|;&]{0,60}?\s(?!-|sha-?\d|\w+-\d+\b)VALUE(?=\s{0,3}(?:[)`|;&>]|$))"),
        ("chpasswd", r"\bchpasswd:?\s(?:[^\n]{0,40}\n){1,8}?\s{0,12}(?:-\s)?[\w.-]{1,32}:VALUE"),
        ("chpasswd", r"\becho\s{1,3}['\"]?[\w.-]{1,40}:VALUE['\"]?\s{0,3}\|\s{0,3}(?:sudo\s)?chpasswd"),
        ("smbclient", r"-U\s{0,2}['\"]?[\w.\\/-]{1,60}%VALUE"),
        ("|", r"\b(?:echo|printf)\s{1,3}(?:-\w{1,3}\s{1,3})?(?:[\"']%s(?:\\n)?[\"']\s{1,3})?VALUE\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?(?:passwd|smbpasswd|vncpasswd|kinit|cryptsetup|veracrypt|openconnect|openfortivpn|hdiutil|su\b|gpg2?\b[^\n]{0,80}passphrase-fd|ssh-add|restic|borg|keyctl|secret-tool|security|ansible-vault|rclone|7z|mount\S{0,8}|ecryptfs-\S{1,30}|zfs|gh\sauth|kubeseal|lpass|bw)\b"),
        ("rotect ", r"\bunprotect\s{1,3}(?:password:=\s?)?(?=[\"'])VALUE"),
        ("basic_auth", r"^\s{0,12}basic_?auth\s{1,3}[\w.@-]{1,40}\s{1,3}VALUE\s{0,3}$"),
        ("(echo ", r"<\(\s?(?:echo|printf)\s{1,3}(?:-\w\s)?VALUE\s?\)"),
        ("secret set", r"\bgh\s{1,3}secret\s{1,3}set\s[^\n]{0,80}?\s(?:-b|--body)(?:=|\s{1,3})VALUE"),
        ("authentication ", r"^\s{0,6}(?:ip|ipv6|standby|vrrp|glbp|ppp)\s[^\n]{0,40}\bauthentication\s{1,3}(?:text\s{1,3}|md5\s{1,3})?VALUE\s{0,3}$"),
        ("<<<", r"\b(?:sudo|wrangler|gh\ssecret|passwd|vncpasswd|kinit|cryptsetup|su|openconnect|gh\sauth\slogin|docker\slogin|podman\slogin|helm\sregistry|ssh-add|restic|gpg2?|veracrypt|smbpasswd)\b[^\n|;&<]{0,100}<<<\s{0,2}VALUE"),
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
        ("ftp", r"\bftp\b[^\n]{0,120}\n(?:[^\n]{0,120}\n){0,4}?\s{0,8}(?:quote\s)?user\s{1,3}\S{1,60}\s{1,3}VALUE"),
        ("PASS ", r"^(?:[>CS]:?\s)?PASS\s{1,2}VALUE\s{0,3}$"),
        ("LOGIN ", r"^(?:[>CS]:?\s)?\w{1,6}\sLOGIN\s\S{1,80}\s{1,2}VALUE\s{0,3}$"),
        ("IDENTIFY", r"\bIDENTIFY\s{1,2}(?:[\w|`^-]{1,30}\s{1,2})?VALUE\s{0,3}$"),
        ("AUTH ", r"^[^\n]{0,40}(?-i:\bAUTH)\s{1,2}(?!PLAIN|LOGIN|TLS|SSL)(?:[\w.-]{1,30}\s{1,2})?VALUE\s{0,3}$"),
        ("CONFIG SET", r"\bCONFIG\s{1,2}SET\s{1,2}(?:requirepass|masterauth)\s{1,2}VALUE"),
        ("SETUSER", r"\bSETUSER\s[^\n]{0,80}?\s>VALUE"),
        ("PRAGMA", r"\bPRAGMA\s{1,3}(?:re)?key\s?=\s?VALUE"),
        (" using ", r"\bconnect\s{1,3}to\s{1,3}\S{1,40}\s{1,3}user\s{1,3}\S{1,40}\s{1,3}using\s{1,3}VALUE"),
        (".logon", r"\.logon\s{1,3}(?:[\w.-]{1,60}/)?[\w.-]{1,40},\s?VALUE"),
        ("add_user", r"\brabbitmqctl\b[^\n]{0,60}?\sadd_user\s{1,3}\S{1,40}\s{1,3}VALUE"),
        ("_password", r"\brabbitmqctl\b[^\n]{0,60}?\s(?:change|authenticate)_(?:password|user)\s{1,3}\S{1,40}\s{1,3}VALUE"),
        ("mc alias", r"\bmc\s{1,3}alias\s{1,3}set\s{1,3}\S{1,40}\s{1,3}\S{1,120}\s{1,3}\S{1,60}\s{1,3}VALUE"),
        ("http-basic", r"\bconfig\b[^\n]{0,40}?\shttp-basic\.\S{1,80}\s{1,3}\S{1,60}\s{1,3}VALUE"),
        ("-token.", r"\bconfig\b[^\n]{0,40}?\s(?:pypi-token|gitlab-token)\.\S{1,60}\s{1,3}VALUE"),
        ("bundle config", r"\bbundle\s{1,3}config\s[^\n]{1,80}?\s[\w.-]{1,40}:VALUE"),
        ("creds", r"--(?:\w{1,8}-)?creds(?:=|\s{1,3})['\"]?[\w.@-]{1,60}:VALUE"),
        ("--basic", r"--basic[_-]auth(?:=|\s{1,3})['\"]?[\w.@-]{1,60}:VALUE"),
        ("radtest", r"\bradtest\s{1,3}(?:-\w\s\S{1,10}\s){0,2}\S{1,60}\s{1,3}VALUE"),
        ("networksetup", r"\bnetworksetup\s{1,3}-setairportnetwork\s{1,3}\S{1,10}\s{1,3}(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|\S{1,40})\s{1,3}VALUE"),
        ("netsh", r"\bnetsh\s{1,3}wlan\b[^\n]{0,160}?\skey\s?=\s?VALUE"),
        ("psk", r"\b(?:wifi-sec|802-11-wireless-security|wireless-security)\.(?:psk|wep-key\d)\s{1,3}VALUE"),
        ("psk", r"\bset_network\s{1,3}\S{1,4}\s{1,3}(?:psk|password|wep_key\d)\s{1,3}['\"\\]{0,3}VALUE"),
        ("unseal", r"\boperator\s{1,3}unseal\s{1,3}(?:-\S{1,40}\s{1,3}){0,3}VALUE"),
        ("bw ", r"\bbw\s{1,3}(?:unlock|login\s{1,3}\S{1,80}@\S{1,80})\s{1,3}(?!--)VALUE"),
        ("_pw", r"\b(?:user|owner|input)_pw\s{1,3}VALUE"),
        ("/p", r"\b(?:signtool|veracrypt|truecrypt)\b[^\n]{0,160}?\s/p\s{1,3}VALUE"),
        ("/rp", r"\bschtasks\b[^\n]{0,200}?\s/rp\s{1,3}VALUE"),
        ("/RP", r"\bschtasks\b[^\n]{0,200}?\s/rp\s{1,3}VALUE"),
        ("ssh-keygen", r"\bssh-keygen\b[^\n|;&]{0,120}?\s(?-i:-[NP])\s{1,3}VALUE"),
        ("snmp", r"\bsnmp[a-z]{3,10}\b[^\n|;&]{0,160}?\s(?-i:-[cAX])\s{1,3}VALUE"),
        ("password-command", r"--password-command(?:=|\s{1,3})['\"]?echo\s{1,3}(?P<bare>[^\s\"'`|;&<>]{3,120})"),
        ("rootpw", r"\brootpw\s{1,3}(?:--\w{4,12}\s{1,3}){0,2}VALUE"),
        ("isakmp", r"\bisakmp\s{1,3}key\s{1,3}(?:0\s{1,3})?VALUE"),
        ("md5 ", r"\b(?:message-digest-key|authentication-key|key)\s{1,3}\d{1,5}\s{1,3}(?:md5|sha\d{0,3}|hmac\S{0,10})\s{1,3}(?:0\s{1,3})?VALUE"),
        ("key-string", r"\bkey-string\s{1,3}(?:0\s{1,3})?VALUE"),
        ("authentication-key", r"\bauthentication-key\s{1,3}(?:0\s{1,3})?VALUE"),
        ("snmp-server", r"\bsnmp-server\s{1,3}user\s[^\n]{1,80}?\s(?:auth|priv)\s{1,3}(?:md5|sha|aes|des|3des)\s{1,3}(?:\d{2,3}\s{1,3})?VALUE"),
        ("option key", r"\boption\s{1,3}(?:key\d?|password|auth_secret|psk)\s{1,3}VALUE"),
        ("stats auth", r"\bstats\s{1,3}auth\s{1,3}[\w.@-]{1,40}:VALUE"),
        ("login=", r"\blogin=[\w.@%-]{1,60}:VALUE"),
        ("userpwd", r"\buserpwd[\"']?\s?[,:=>]{1,2}\s?[\"'][^\"':\n]{1,60}:(?P<bare>[^\"'\n]{3,120})"),
        ("USERPWD", r"\bCURLOPT_(?:PROXY)?USERPWD\s?[,=]{1,2}>?\s?[\"'][^\"':\n]{1,60}:(?P<bare>[^\"'\n]{3,120})"),
        (" : ", r"^[^\n:]{0,80}\s?:\s{1,3}(?-i:PSK|EAP|XAUTH|NTLM|PIN)\s{1,3}VALUE"),
        ("-secrets", r"-secrets\b[^\n]{0,80}\n(?:[#][^\n]{0,120}\n){0,4}\s{0,8}[\"']?[\w.@*\\-]{1,60}[\"']?\s{1,20}[\"']?[\w.*-]{1,60}[\"']?\s{1,20}VALUE"),
        ("]:", r"^\[[\w.-]{3,80}\]:\d{2,5}\s{1,8}[^\s:]{1,80}:VALUE"),
        ("auth-user-pass>", r"<auth-user-pass>\s{1,4}\S{1,80}\s{1,4}VALUE"),
        ("usermod", r"\b(?:chpasswd|usermod|useradd)\b[^\n|;&]{0,80}?\s-p\s{1,3}VALUE"),
        ("wget", r"--(?:http-|ftp-|proxy-)?password=VALUE"),
        ("openssl", r"\bopenssl\b[^\n|;&]{0,120}?\s-k\s{1,3}VALUE"),
        ("rar", r"\b(?:un)?rar\b[^\n|;&]{0,80}?\s-h?p(?=\S)VALUE"),
        ("setx", r"\bsetx?\s{1,3}\w{0,40}(?:password|secret|token|key)\s{1,3}VALUE"),
        ("ENV ", r"^[ \t]*ENV\s{1,3}\w{0,40}(?:password|passwd|secret|token|key)\s{1,3}VALUE"),
    )
)  # fmt: skip
_SHORT_FLAGS = tuple(
    (flag, tools.split(), _command(rf"(?<![\w./-])(?:{tools.replace(' ', '|')})\b[^\n|;&]{{0,200}}?\s(?-i:{flag})\s{{1,3}}VALUE"))
    for flag, tools in (
        ("-p", "psexec psexec64 twine rdesktop ncftpput ncftpget ncftpls cqlsh beeline openfortivpn supervisorctl yt-dlp youtube-dl gallery-dl mutool veracrypt rabbitmqadmin racadm doveadm security evil-winrm crackmapexec netexec smbmap hydra hdbsql msoffcrypto-tool influx clickhouse-client exaplus presto trino impala-shell winexe wmiexec rpcclient altool podman buildah skopeo helm svn"),
        ("-P", "ipmitool ipmiconsole security tsql isql fisql mosquitto_rr amqp-publish"),
        ("-w", "vsql kadmin kadmin.local add-generic-password add-internet-password nzsql"),
        ("-W", "pk12util vsql"),
        ("-K", "pk12util"),
        ("-k", "nuget dotnet gem"),
        ("-t", "doctl vercel"),
        ("-ap", "swaks"),
        ("-xp", "sendemail sendEmail"),
    )
)  # fmt: skip
"""Tools that take a password with a flag of one letter, by the flag."""

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

_AFTER_A_SLASH = re.compile(r"""/"?(?P<bare>[^\s/@'"]{3,60})"?@(?P<host>//)?(?=[\w(])""")
_ORACLE = re.compile(
    r"(?:\b(?:sqlplus|sqlcl|sql|expdp?|impdp?|rman|sqlldr|connect|conn|target|auxiliary|catalog|userid=?|oracle:(?:thin|oci8?):)\s{0,3}(?:-\w\s{1,3})?['\"]?)[\w$#\[\]]{1,40}\Z",
    re.IGNORECASE,
)
"""The user of an Oracle database, whose password follows after a slash."""
_REACH = 400
"""How far from its anchor a command may begin or end."""
_OPTIONS = re.compile(r",[a-z]{2,12}=")
"""As in `--secret db,type=env`, which says where to find one."""


def find_in_commands(text: str) -> Iterator[Finding]:
    """Every password that a command was given as an argument."""
    for anchor, pattern in _COMMANDS:
        for start, end in _around(anchor, text):
            yield from _live(pattern.finditer(text, start, end))
    for flag, tools, pattern in _SHORT_FLAGS:
        if f" {flag} " in text and any(tool in text for tool in tools):
            for start, end in _around(f" {flag} ", text):
                yield from _live(pattern.finditer(text, start, end))
    for pattern in (_SIGN_IN, _PAIR, _PGPASS):
        yield from _live(pattern.finditer(text))
    if "@" in text:
        yield from _live(_of_oracle(text))


def _around(anchor: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a command with this word in it can stand; near places become one."""
    at = text.find(anchor)
    while at >= 0:
        start, last = max(0, at - _REACH), at
        while 0 <= (at := text.find(anchor, last + 1)) <= last + _REACH:
            last = at
        yield start, min(len(text), last + _REACH)


def _of_oracle(text: str) -> Iterator[re.Match[str]]:
    for match in _AFTER_A_SLASH.finditer(text):
        if match["host"] or _ORACLE.search(text, max(0, match.start() - 80), match.start()):
            yield match


def _live(matches: Iterable[re.Match[str]]) -> Iterator[Finding]:
    for match in matches:
        group = next(name for name in ("bare", "double", "single") if match.groupdict().get(name))
        value = match[group].rstrip(".,;)")
        if _is_live(value):
            start = match.start(group)
            what = "a password in the arguments of a command"
            yield secret("command_line_password", what, (start, start + len(value)))


def _is_live(value: str) -> bool:
    if value.startswith(("-", "/")) or is_stand_in(value) or _OPTIONS.search(value):
        return False
    return is_password(value.replace("=", "+", 1)) or is_random(value)
