"""Passwords, keys and codes that stand in a table, below the heading that names them."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.screening.findings import Finding
from knowledge.screening.locks import CODE_HEADING, LOCK, PIN_HEADING
from knowledge.screening.password_words import PASSWORD_NAME
from knowledge.screening.placeholders import is_password, is_token, kinds_of_character
from knowledge.screening.secrets import secret

_DIVIDERS = ("|", "\t", ";", ",", " / ", "  ")
_PASSWORD_HEADING = re.compile(
    rf"(?:[\w./-]{{1,20}} ){{0,2}}(?:{PASSWORD_NAME.pattern}|pass|pw|psw|pswd|ww|kw|kennw\.|passw\.|wpa2?(?:[ -]?(?:key|psk))?|psk)(?: ?\([^()]{{1,24}}\))?"
)
_KEY_HEADING = re.compile(
    r"(?:api|access|secret|auth|private|license|bot|client|app|account|signing)[ _-]?(?:keys?|tokens?|secrets?)|tokens?|secrets?|bearer|api"
)
_KEY_CELL = re.compile(r"[\w+/=.~:-]{16,300}")
_CODE_CELL = re.compile(r"[*#]?\d{3,8}[#*]{0,2}|\d{1,2}(?:-\d{1,2}){2,4}")
_ERROR = re.compile(
    r"error|status|http|fault|meaning|country|zip|postal|discount|fehler|product|sku|price|exit"
)


@dataclass(frozen=True, slots=True)
class _Column:
    at: int
    kind: str
    divider: str


def find_in_tables(text: str, low: str) -> Iterator[Finding]:
    """Every live value in a column that a heading calls passwords, keys or codes."""
    columns: list[_Column] = []
    start = width = 0
    for line in text.splitlines(keepends=True):
        cells = _cells(line, columns[0].divider) if columns else []
        if columns and len(cells) >= width:
            for column in columns:
                at, cell = cells[column.at]
                if finding := _in_cell(column.kind, cell, start + at):
                    yield finding
        else:
            columns = _headings(low, start, start + len(line))
            width = max((column.at for column in columns), default=0) + 1
        start += len(line)


def _in_cell(kind: str, cell: str, start: int) -> Finding | None:
    span = (start, start + len(cell))
    if " " in cell:
        return None
    if kind == "password" and is_password(cell) and kinds_of_character(cell) >= 2:
        return secret("told_password", "a password in a table", span)
    if kind == "key" and _KEY_CELL.fullmatch(cell) and is_token(cell):
        return secret("secret_assignment", "a token or key in a table", span)
    if kind in ("password", "code") and _CODE_CELL.fullmatch(cell) and len(set(cell)) > 1:
        return secret("pin_code", "the code of a lock in a table", span)
    return None


def _headings(low: str, start: int, end: int) -> list[_Column]:
    line = low[start:end].strip()
    for divider in _DIVIDERS:
        if divider not in line:
            continue
        names = [cell for _, cell in _cells(low[start:end], divider)]
        is_code = divider == "," and ("'" in line or not names[-1])
        if 2 <= len(names) <= 20 and not is_code:
            kinds = ((at, _kind(name, low, start, end)) for at, name in enumerate(names))
            return [_Column(at, kind, divider) for at, kind in kinds if kind]
    return []


def _kind(name: str, low: str, start: int, end: int) -> str:
    """What a heading promises; a bare “code” needs locks in the rows around it."""
    if _PASSWORD_HEADING.fullmatch(name):
        return "password"
    if _KEY_HEADING.fullmatch(name):
        return "key"
    if PIN_HEADING.fullmatch(name):
        return "code"
    if CODE_HEADING.fullmatch(name):
        around = low[max(0, start - 120) : end + 400]
        return "code" if LOCK.search(around) and not _ERROR.search(around) else ""
    return ""


def _cells(line: str, divider: str) -> list[tuple[int, str]]:
    """Each cell without blanks and quotation marks, and where it begins."""
    cells, at = [], 0
    for part in line.rstrip("\n").split(divider):
        bare = part.strip().strip("\"'`*" if part.count("*") > 2 else "\"'`")
        # Columns that blanks align have more blanks between them than the divider.
        if bare or divider != "  ":
            cells.append((at + (part.index(bare) if bare else 0), bare))
        at += len(part) + len(divider)
    return cells
