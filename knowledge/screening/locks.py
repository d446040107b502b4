"""The digits of locks, cards and alarms, in sentences of many languages."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.password_words import COPULA, COPULA_UNSPACED, PASSWORD_NAME
from knowledge.screening.secrets import secret

_PIN_NAME = (
    r"(?:(?<![^\W_])(?:pin(?:-?\s?(?:code|kode|kod|codes|nummer|number|код\w?|kód|koodi))?|puk\d?(?:-?\s?(?:code|kode|kod|код))?|пин(?:-?код\w?)?|пук(?:-?код)?|nip|kode pin|mã pin|código pin|codice pin|code pin|geheimzahl|pincode|digicode|code confidentiel"
    r"|(?:screen(?: ?time| ?lock)?|lock ?screen|unlock(?:ing)?|restrictions?|parental(?: controls?)?|device|phone|tablet|ipad|iphone|mailbox|voicemail|sim|meeting|host|conference|dial-in|supervisor|manager|technician|installer|engineer|administrator|admin|master|disarm(?:ing)?|arming|override|staff|cleaners?)[ -](?:pass)?codes?|passcode|(?:beheerders|installateurs|monteurs|hoofd)code|(?:techniker|installateur|fachmann|fachhandwerker|service|master)-?code|code (?:installateur|technicien|maître|administrateur)|codice (?:installatore|tecnico|amministratore|master)|c[óo]digo (?:de(?:l)? )?(?:instalador|técnico|administrador|maestro|mestre)|kod (?:instalatora|serwisowy|administratora|technika)|(?:installatörs|service|huvud|tekniker)kode?n?|код (?:установщика|администратора|мастера|техника)|(?:ent)?sperrcode|bildschirmcode|gerätecode|zugangscode|code de (?:dé)?verrouillage|code d'accès"
    r"|c[óo]digo de (?:des)?bloque(?:o|io)|c[óo]digo de (?:acceso|acesso)|codice di (?:sblocco|accesso)|ontgrendel(?:ings)?code|toegangscode|kod (?:odblokowania|dostępu|odblokowujący)|код (?:разблокировки|доступа)|код-пароль)(?![^\W_])"
    r"|暗証番号|ピンコード|个人识别码|核心密码|رقم التعريف|الرقم السري|קוד סודי)"
)
_CARD = re.compile(
    r"\b(?:cvv2?|cvc2?|card security code|kartenprüfnummer|prüfziffer)\b[^\n\d.]{0,16}?(?P<bare>\d{3,4})(?![\w%]|[.,:/-]\d)"
)
_LOCK = (
    r"(?:key ?(?:safe|box|pad)|strongbox|lock(?:er|box)?s?\b|padlock|\bsafe\b|strongroom|\bdoors?\b|\bgates?\b|alarm|garage|\bshed\b|vault|cabinet|cupboard|turnstile|\bbarrier|entrance|entry|intercom|\bpanel\b|burglar|bike room|\bbuilding\b|\blobby"
    r"|schlüssel(?:safe|kasten|box)|tresor|safe\b|haustür|türschloss|\btür|\btor\b|zahlenschloss|alarmanlage|fahrradkeller|einfahrt|schranke"
    r"|portail|coffre|\bportes?\b|immeuble|entrée|interphone|cadenas|caja fuerte|puerta|portal\b|portón|candado|alarma|cofre|portão|\bporta\b|cadeado|cassaforte|cancello|portone|lucchetto|allarme|citofono"
    r"|kluis|\bslot\b|deur|hek\b|poort|voordeur|sleutelkast|\bdør|\bdörr|\bport(?:en)?\b|portkod|\bgrind|kassaskåp|skåpet|skabet|skapet|kaappi|nøgleboks|nøkkelboks|larm|hengelås|\bovi\b|ovi|kassakaap|hälyt|porraskäytävä|\bkapı|kasa\b|kilit|ajtó|kapu|széf|riasztó|lakat"
    r"|bram|drzwi|domofon|sejf|kłódk|furtk|dveř|vrat[aůy]|brán|trezor|zámek|zámk|poart|ușă|uși|seif|lacăt|interfon|сейф|домофон|двер|ворот|калитк|подъезд|шлагбаум|замок|сигнализаци|ключниц|πόρτα|συναγερμ|χρηματοκιβώτι|είσοδο|θυροτηλ"
    r"|כניסה|דלת|שער|כספת|אזעקה|باب|بوابة|خزنة|خزنة|الدخول|گاوصندوق|در ورودی|दरवाज|तिजोरी|गेट|ประตู|ตู้เซฟ|cửa|cổng|két sắt|pintu|gerbang|brankas|mlango|geti|kasha"
    r"|门禁|门锁|大门|楼门|单元门|保险柜|保险箱|門鎖|金庫|玄関|ドア|オートロック|鍵|キーボックス|현관|도어락|금고|출입문|대문)"
)
_CODE_WORD = (
    r"(?:\w{0,20}codes?|\w{0,16}kode[nr]?|\w{0,16}kod(?:en|u|em|ot|y)?|\w{0,16}kód\w{0,3}|\w{0,16}koodi\w{0,2}|codice|c[óo]digo|\bcod(?:ul)?|\w{0,6}combinai?[sz]?(?:tion|son|ción|zione|ção)|\w{0,20}kombina\w{3,6}|cijfercode|код\w{0,2}|шифр|комбинаци\w"
    r"|κωδικ[όοού]ς?|συνδυασμό[ςσ]?|ה?קוד|ל?קוד|رمز|كود|کد|कोड|รหัส|mã|msimbo|şifre\w{0,4}|密码|密碼|暗証番号|番号|コード|비밀번호|비번|코드|número|numero|nummer|zahl(?:en)?)"
)
_TURNED = re.compile(
    r"combination|kombination|combinaison|combinaci|combinazione|комбинац|opens?\b|öffne|geht\b[^\n.]{0,30}\bauf\b|\bauf\b|dreh|turn|links|rechts|left|right|ouvre|abre|apre|dial|kod|cod"
)
_OTHER_CODE = re.compile(
    r"(?<![^\W_])(?:error|fault|status|exit|return|reason|http|zip|post(?:al|leit)?\w{0,4}|country|area|dialling|product|discount|promo|voucher|coupon|gift|tracking|booking|order|invoice|event|colou?r|\bqr|\bbar|source|\bgpio|chip|connector|solder|jumper|board|model|part"
    r"|fehler|störung|meldung|plz|rabatt|gutschein|artikel|kunden|bestell|rechnung|erreur|postale?|remise|article|commande|descuento|pedido|sconto|ordine|pedido|cupom|kortings|rabat|kampanj|ошибк|скидк|промо|индекс|заказ|ticket|phone|telefon|téléphone|teléfono|телефон|fine|dress|building code|morse|sort|swift|iban|icd|iso|naics|hs|tax|shows?|displays?|zeigt|reports?)"
    r"[^\n.]{0,14}$"
)
_MEANING = re.compile(
    r"\s{0,2}(?:means?|indicates?|stands? for|signals?|digits?|char|times|attempts|bedeutet|signifie|significa|stellen|ziffern|stellig|users|requests|ms\b|sec|min(?:ute)?s?\b|days|years|jahre|and above|or later|bit|pixels|points|steps|entries|rows|lines|files|people|\(error)"
)
_AN_EXAMPLE = re.compile(
    r"default|factory|werkseinstellung|standard|e\.g|for example|such as|z\. ?b\.|par exemple|par défaut|por defecto|beispiel|например|по умолчанию|escape room|players?\b|novel|puzzle|riddle|weak|trivial|common(?:ly|est)?\b|like\b|guess"
)
_OPENING_WORD = (
    r"(?:\b(?:enter|type(?: in)?|key in|punch(?: in)?|tap(?: in)?|press|tippe[nt]?|gib|drück\w{0,3}|tape[rz]?|compose[rz]?|marca[rd]?|teclea[rd]?|digita(?:re|r|te)?|inseri(?:re|sci|te)"
    r"|toets|tast|trykk?|slå|knappa|näppäile|wpisz|wciśnij|zadej(?:te)?|stiskni|üsd be|tuşla\w*|введ\w+|наб(?:ери|рать)\w*|нажм\w+|πληκτρολογ\w+|πατ\w+|tekan|ketik|nhấn|bấm|bonyeza|weka)\b|הקש\w*|לחצ\w*|输入|按|入力|押|누르|입력|กด|اضغط|أدخل|दबा)"
)
_OPENED_WITH = (
    r"(?:open|unlock|disarm|öffn|geht|entsicher|ouvr|désactiv|abr|apr|desactiv|disattiv|åbn|åpn|öppn|avaa|avautu|otev|otev[íř]|odemk|otwier|otwó?r|nyit|nyíl|откр|отпир|ανοίγ|ξεκλειδώ|opent|ontgrendel)\w{0,12}"
    r"[^\n\d.!?]{0,40}?\b(?:with|on|to|using|by|mit|avec|con|com|met|med|pomocí|kodem|kóddal|кодом|με|na)\b"
)
_OPENING_AFTER = re.compile(
    r"\s?(?:eingeben|eintippen|tippen|drücken|wählen|invoeren|intoetsen|indtastes?|inn på|を?入力|を?押|[를을]? ?(?:누르|입력)|girin|tuşlay|दबाएँ|डालें)"
)
_OF_THE_CARD = r"(?:карты|карточки|(?:der|zur) karte|(?:of|for) the card|de (?:la|ma) carte|de la tarjeta|della carta|do cartão|van de pas|till kortet|til kortet|karty|للباب|للبطاقة)"
_CHANGED = r"(?:changed|set|reset|bytt|byttes|ändrad|ändrat|endret|ændret|geändert|changée?|cambiad[oa]|cambiat[oa]|alterad[oa]|gewijzigd|veranderd|zmienion[oy]|změněn|muutettu|изменён|изменен|змінено)\s(?:to|till|til|auf|pour|en|a|in|para|naar|na|на)"
_JOINT = (
    rf"(?:[^\n\d.!?]{{0,48}}?(?:[:=：]|\b{COPULA}\b|{COPULA_UNSPACED})\s{{0,3}}(?:(?:el|the|der|die|das|le|la|il|lo|de|het)\s)?|[^\n\d.!?]{{0,48}}?\b{_CHANGED}\s|['’]s\s|\s{_OF_THE_CARD}\s|[ \t|]{{1,6}}|\s?[(（]\s?|-?\s)"
    r"[\"'`*“„«»]{0,3}\s?\Z"
)
_DIGITS = re.compile(
    r"(?<![\w.,:/+@€$£#-])(?:[*#]?\d{4,12}|\d{1,3}[кk]\d{3,5}|\d{3,6}[a-dк](?!\w)|\d{2}[a-d]\d{2,3}|[a-d]\d{4,6}|\d{1,4}(?:[ –-]\d{1,4}){1,4}|\d{3}(?=[#*]))[#*]{0,2}"
    r"(?![\w%€$£°]|[.:,/–-]\d|\s?(?:€|\$|eur|usd|kg|km|mm)\b)"
)
_PIN_BEFORE = re.compile(rf"{_PIN_NAME}(?:{_JOINT}|[^\n.!?]{{0,48}}\s(?:is|ist|est|es|è|é)\s\Z)")
_CODE_BEFORE = re.compile(
    rf"(?:(?<![^\W_])|(?<=[\u0590-\uffff])){_CODE_WORD}(?:(?![^\W_])|(?<=[\u0590-\uffff])){_JOINT}"
)
_CODE_OF = re.compile(
    rf"(?<![^\W_]){_CODE_WORD}(?:\s[^\s\d:.,!?]{{1,16}}){{1,4}}\s[\"'`*(]{{0,2}}\Z"
)
_OPENING_BEFORE = re.compile(
    f"(?:{_OPENING_WORD}|{_OPENED_WITH})" + r"[^\n\d.!?]{0,16}?[\"'`*“„«]{0,2}\Z"
)
LOCK = re.compile(_LOCK)
PIN_HEADING = re.compile(
    rf"{_PIN_NAME}s?|(?:door|gate|alarm|entry|safe|lock|keypad|garage|access)[ -]codes?|tür-?codes?|torcode|codes? d'accès|código de acceso|combinations?"
)
CODE_HEADING = re.compile(_CODE_WORD)
_SIDES = ("right", "rechts", "droite", "derecha", "destra", "direita", "clockwise")
_SIDE = rf"(?:{'|'.join(_SIDES)}|left|links|gauche|izquierda|sinistra|esquerda|rechtsom|linksom|anti-?clockwise|counter-?clockwise)"
_SIDE_AND_NUMBER = re.compile(
    r"r[ -]?\d{1,2}[\s,-]{1,3}l[ -]?\d|l[ -]?\d{1,2}[\s,-]{1,3}r[ -]?\d|\d{1,2} ?r[\s,-]{1,3}\d{1,2} ?l"
)
_TURN = rf"(?:{_SIDE}(?:\s(?:to|on|auf|bis|à|a|op|naar|zu))?[\s:=-]{{1,2}}\d{{1,2}}|\d{{1,2}}[\s-]{{0,2}}{_SIDE}|[rl][ -]?\d{{1,2}}|\d{{1,2}} ?[rl])(?![\w%]|\s?(?:cm|mm|km|m|kg|steps|meters?|metres?|degrees|grad)\b)"
_DIALLED = re.compile(
    rf"(?<![\w.]){_TURN}(?:(?:[\s,;–-]|\b(?:then|and|dann|und|puis|et|luego|y|poi|e)\b){{1,4}}{_TURN}){{2,5}}"
)
"""A combination as it is dialled: 34 right, 11 left, 52 right."""
_COMBINATION = re.compile(rf"{_LOCK}|combin[ae]|kombin|комбинац")
_DOOR = r"(?:\b(?:doors?|gates?|entrance|alarm|garage|shed|cellar|key ?(?:safe|box|pad)|padlock|safe|lockbox|intercom|keypad|haustür|tür|tor|tresor|alarmanlage|keller|garage|schuppen|porte|portail|coffre|cave|puerta|portal|caja fuerte|alarma|porta|portão|cofre|cancello|portone|cassaforte|deur|poort|kluis|brama|drzwi|sejf)\b)"
_LISTED = re.compile(
    rf"{_DOOR}(?:\s(?:code|is|ist))?:?\s\d{{4,6}}[#*]?(?:[,;/]\s|\s(?:and|und|et|y|e|en)\s)(?:[^\W\d]{{1,16}}\s){{0,3}}?{_DOOR}(?:\s(?:code|is|ist))?:?\s\Z"
)
_AT_A_DOOR = re.compile(rf"{_DOOR}(?:\s(?:code|is|ist))?:?\s\Z")
_ASKED = re.compile(
    rf"(?P<name>{_PIN_NAME}|{_CODE_WORD})(?P<rest>[^\n?]{{0,60}})[?？][\s>*-]{{0,6}}(?:\[?\d{{1,2}}:\d\d(?::\d\d)?\]?\s{{1,3}})?(?:[^\n:\d?]{{0,24}}:\s{{0,2}})?(?:(?:it(?:['’]?s| is)|das ist|es ist|c['’]est|es|è|é)\s)?[\"'`]?\Z"
)
_NUMERAL = r"(?:zero|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve)"
_SPOKEN = re.compile(
    rf"(?:pin|puk|passcode|geheimzahl|code|kod|codice|código)(?:\s(?:is|ist|est|es|è|:))?:?\s(?P<bare>{_NUMERAL}(?:[-, ]{{1,2}}{_NUMERAL}){{3,7}})(?!\w)"
)
_GROUPS_AT_A_LOCK = re.compile(
    r"(?:(?:pad|bike |cycle |bicycle )?lock(?:box)?|\bsafe|key ?(?:safe|box)|tresor|zahlenschloss|fahrradschloss|cadenas|candado|lucchetto|cadeado|hangslot|hänglås|hengelås|kłódk\w)(?:\s?[:=]|\s(?:is|ist|code))?\s\Z"
)
_TAKES = re.compile(
    r"\b(?:keypad|alarm|panel|padlock|lock|safe|key ?(?:safe|box|pad))\s(?:takes|accepts|wants|expects|answers to)\s[\"'`]?\Z"
)
_NUMBER_AS_PASSWORD = re.compile(
    rf"(?:{PASSWORD_NAME.pattern})(?P<between>(?:\s[^\s:=.,;!?]{{1,16}}){{0,5}}?)\s?(?:[:=：]|\b{COPULA}\b|{COPULA_UNSPACED})\s{{0,3}}[\"'`*“„«]{{0,3}}\Z"
)
_COUNTED = re.compile(
    r"reset|attempt|length|change|count|ticket|users?\b|failed|total|expir|iteration|cost|rounds|days|policy|size|version|manager|hash|error|code|port\b|line|page|year|versuche|länge|tage|fehler|zeile"
)
_TURNS = re.compile(r"\d{1,2}(?:[ –-]\d{1,2}){2,4}")
_ONE_BY_ONE = re.compile(r"\d(?:[ –-]\d){3,5}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE = re.compile(r"[.!?](?=\s)|\n|[。！？]")
_PORT = re.compile(r"\bports?\b[\s:#=]{0,3}\Z")
"""A number of the network's, though it is also a gate in the north."""
_REACH = 100


def find_pins(low: str) -> Iterator[Finding]:
    """Every number that a sentence gives as the code of a lock, a card or an alarm."""
    for match in _CARD.finditer(low):
        yield secret("pin_code", "the digits of a card", match.span("bare"))
    for match in _SPOKEN.finditer(low):
        yield secret("pin_code", "the digits of a lock or card, as words", match.span("bare"))
    yield from _dialled(low)
    for match in _DIGITS.finditer(low):
        if not any(map(str.isalpha, low[max(0, match.start() - 12) : match.start()])):
            continue
        lead = low[max(0, match.start() - 2 * _REACH) : match.start()]
        if _is_code(lead, match[0], low[match.end() : match.end() + _REACH]):
            yield secret("pin_code", "the digits of a lock or card", match.span())


def _dialled(low: str) -> Iterator[Finding]:
    """Combinations by their turns."""
    is_dialled = any(side in low for side in _SIDES) or _SIDE_AND_NUMBER.search(low)
    for match in _DIALLED.finditer(low) if is_dialled else ():
        lead = low[max(0, match.start() - 160) : match.start()]
        if _COMBINATION.search(lead) and not _AN_EXAMPLE.search(lead):
            yield secret("pin_code", "the combination of a lock", match.span())


def _is_code(lead: str, digits: str, after: str) -> bool:
    bare = re.sub(r"\D", "", digits)
    if _is_a_password(lead, digits, bare) and not _MEANING.match(after):
        return True
    if not 3 <= len(bare) <= 10 or len(set(bare)) < 2 or _MEANING.match(after):
        return False
    before = _SENTENCE.split(lead[-_REACH:])[-1]
    if _PORT.search(before):
        return False
    if name := _PIN_BEFORE.search(before):
        other = _OTHER_CODE.search(before[: name.start()])
        opens = _is_whole(digits) and (
            other is None or other[0].startswith(("phone", "tel", "тел"))
        )
    elif ("?" in lead or "？" in lead) and (asked := _ASKED.search(lead)):
        about = lead[: asked.start()] + asked["name"] + asked["rest"]
        opens = _is_whole(digits) and _is_asked_for(asked, about)
    else:
        opens = _opens_a_lock(lead, before, digits, after)
    return opens and not _AN_EXAMPLE.search(before) and not _AN_EXAMPLE.search(after[:40])


def _is_asked_for(asked: re.Match[str], about: str) -> bool:
    if re.search(_PIN_NAME, asked["name"]):
        return True
    return LOCK.search(about) is not None and not _OTHER_CODE.search(about)


def _is_a_password(lead: str, digits: str, bare: str) -> bool:
    """Nothing but digits, yet given as a password; counted things are no password."""
    if not 6 <= len(bare) <= 14 or len(set(bare)) < 4 or bare in "012345678901234567890":
        return False
    told = _NUMBER_AS_PASSWORD.search(lead[-_REACH:])
    return told is not None and digits == bare and not _COUNTED.search(told["between"])


def _opens_a_lock(lead: str, before: str, digits: str, after: str) -> bool:
    """A code word or the deed of opening comes just before, and a lock is spoken of."""
    if _looks_like_a_year(before, digits):
        return False
    sentence = f"{before} {_SENTENCE.split(after)[0]}"
    if _TAKES.search(before) and digits.isdigit():
        return True
    is_grouped = _ONE_BY_ONE.fullmatch(digits) or _TURNS.fullmatch(digits)
    if is_grouped and _GROUPS_AT_A_LOCK.search(before):
        return True
    if _TURNS.fullmatch(digits):
        return _TURNED.search(sentence) is not None and LOCK.search(sentence) is not None
    if not _is_whole(digits):
        return False
    if _LISTED.search(before) or (digits[-1] in "abcd" and _AT_A_DOOR.search(before)):
        return True
    if name := _CODE_BEFORE.search(before):
        return not _OTHER_CODE.search(before[: name.end()]) and bool(LOCK.search(lead + sentence))
    if name := _CODE_OF.search(before):
        return LOCK.search(name[0]) is not None and not _OTHER_CODE.search(before[: name.end()])
    return _is_entered(before, digits, after) and LOCK.search(sentence) is not None


def _is_entered(before: str, digits: str, after: str) -> bool:
    """A keypad's last sign closes it, or a word for entering stands beside it."""
    if len(digits) > 9 or digits in "123456789":
        return False
    is_beside = _OPENING_BEFORE.search(before) or _OPENING_AFTER.match(after)
    return digits[-1] in "#*" or is_beside is not None


def _is_whole(digits: str) -> bool:
    """One number, or groups that are not a date, a range or a telephone number."""
    groups = re.findall(r"\d+", digits)
    if not re.search("[ –-]", digits):
        return True
    if len(groups) == 2 and not _YEAR.fullmatch(groups[0]):
        return len(groups[0]) >= len(groups[1]) >= 2
    return len({len(group) for group in groups}) == 1 and len(groups[0]) >= 2 and len(groups) <= 4


def _looks_like_a_year(before: str, digits: str) -> bool:
    return bool(
        _YEAR.fullmatch(digits)
        and not re.search(r"(?:[:=：]|\b(?:is|ist|est|es|er|är|code|kode|kod))\s*$", before)
    )
