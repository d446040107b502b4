"""What people call a password, a key or a code, and how they say what it is, in many languages."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re

_PASSWORDS = (
    # Germanic
    r"pass[ -]?(?:words?|phrases?|codes?|wort(?:s|es)?|wörter)|pwd|passwd|kennwort(?:s|es)?|kennwörter|losungswort|zugangscode"
    r"|wachtwoord(?:en)?|toegangscode|wagwoord|lösenord\w{0,4}|adgangskode\w{0,4}|kodeord\w{0,3}|passord\w{0,3}|lykilorð\w{0,4}|aðgangsorð\w{0,3}"
    # Romance, Celtic, Basque, Albanian
    r"|mots? de passe|mdp|contrase[ñn]as?|contrasenya|contrasinal|clave|senhas?|palavras?[- ]passe|parola(?: d'ordine)?|parole d'ordine|parolă|parolei"
    r"|cyfrinair|pasfhocal|facal-faire|pasahitz\w{0,4}|fjalëkalim\w{0,4}|pasvorto"
    # Slavic, Baltic
    r"|hasł[oaue]m?|haśle|hesl[oaue]m?|lozink[aeuoi]m?|zapork[aeu]|šifr[aeuoi]m?|gesl[oaue]m?|лозинк[аеуио]м?|шифр[аеуо]й?|парол[ьяюеіи]м?|паролата|гасл[оауе]м?|слова-пароля"
    r"|slaptažod\w{2,4}|parole[si]?|құпия ?сөз\w{0,3}|нууц үг"
    # Finnic, Hungarian, Turkic, Greek, Caucasus
    r"|salasan\w{1,7}|parool\w{0,3}|salasõna|jelsz[óa]\w{0,6}|şifre(?:si|niz|m|nin|yi|miz)?|parola(?:sı|nız|m|yı)|parolu?|κωδικ(?:ός|ό|οί|ού|ούς)(?: (?:πρόσβασης|εισόδου|χρήστη))?|συνθηματικ[όά]|գաղտնաբառ\w{0,3}|პაროლ\w{0,4}"
    # Southeast Asia, Africa
    r"|mật khẩu|kata (?:sandi|laluan|kunci)(?:nya)?|sandi(?:nya)?|laluan|nenosiri|neno (?:la )?siri|nywila|kalmar sirri|furaha sirta|iphasiwedi|የይለፍ ቃል"
    r"|คำ?รหัสผ่าน|รหัสผ่าน|พาสเวิร์ด|ລະຫັດຜ່ານ|ពាក្យសម្ងាត់|လျှို့ဝှက်|စကားဝှက်"
    # East Asia
    r"|密码|密碼|口令|暗号|パスワード|パスフレーズ|合言葉|비밀번호|비번|암호|패스워드"
    # West and South Asia
    r"|كلمة (?:ال)?(?:مرور|سر)|الرقم السري|الباسورد|باسورد|رمز عبور|گذرواژه|پسورد|پاس ?ورڈ|סיסמ[התא]\w{0,3}|पासवर्ड|कूटशब्द|संकेतशब्द|কূটশব্দ|পাসওয়ার্ড|பாஸ்வேர்ட்|கடவுச்சொல்"
    r"|పాస్‌?వర్డ్|సంకేతపదం|ಪಾಸ್‌?ವರ್ಡ್|പാസ്‌?വേഡ്|પાસવર્ડ|ਪਾਸਵਰਡ|මුරපදය"
    r"|login code|access code|unlock code|securestring|ססמ[התא]\w{0,3}|パス(?=[はがを：:])"
    # Phrases and strings that machines share
    r"|auth(?:entication)? phrases?|priv(?:acy)? phrases?|vault phrases?|secret phrases?|unlock phrases?|master phrases?|encryption phrases?|community(?: strings?| name)?(?=\s?(?:is\b|:|=|\"|“|„|«|ist\b))"
    r"|shared secrets?|enable secret|keepass master|master(?=: ?[\"'“„«`])|pre-?shared (?:key|secret)|psk(?![a-z])|wpa2?(?:[ -]psk)? (?:key|code)|bind ?(?:pw|password)|codewort|schlüsselwort|geheimwort|safe ?word"
)
# Every choice begins with a letter of its own, or a text is searched at each of its characters.
_KEYS = (
    "api_|access_|secret_|licen[sc]e_|product_|activation_|auth_|signing_|private_|encryption_|network_|wi-?fi_|wlan_"
    r"|secret|token|key|schlüssel"
    r"|netzwerkschlüssel|wlan-schlüssel|clé(?: d'api)?|chiave|llave|chave|nøgle|nyckel|avain|klucz|klíč|kľúč|kulcs|ключ|anahtar|κλειδί|kunci|密钥|密鑰|キー|トークン|키|토큰|مفتاح|מפתח"
).replace("_", "[ -]?(?:key|token|secret|code)")
PASSWORD_NAME = re.compile(_PASSWORDS)
"""Words for a password, as they stand in a lowered text."""

TOLD_NAME = re.compile(f"{_PASSWORDS}|{_KEYS}")
KEY_NAME = re.compile(
    r"token|key|secret|schl|cl[eé]$|clé|chiave|llave|chave|nøgle|nyckel|avain|klucz|kl[íú]č|kľúč|kulcs|ключ|anahtar|κλειδί|kunci"
    r"|密钥|密鑰|キー|トークン|키|토큰|مفتاح|מפתח",
    re.IGNORECASE,
)

COPULA = (
    r"(?:is|was|are|reads|became|stays|remains|now|to|lautet|lauten|ist|sind|heißt|war|is\ nu|luidt|är|er|heter|hedder|var"
    r"|est|était|sont|es|era|son|é|è|era|sono|este|e|és|on|jest|to|brzmi|je|jsou|su|je\ to|есть|это|был|будет|це|є|е"
    r"|yra|ir|van|lett|olarak|là|adalah|ialah|ni|ay|yw|da|estas|είναι|ήταν)"
)
"""Verbs that say what something is, where words are set apart."""

COPULA_UNSPACED = r"是|为|為|は|が|는|은|이|هي|هو|است|ہے|है|হল|হলো|คือ|הוא|היא|זה|ആണ്|ಆಗಿದೆ"

SIGN_IN = re.compile(
    r"\buser|\blog(?:ged)?[ -]?in|\blogon|\bsign(?:ed)?[ -]?in(?!g)|\baccount|wi-?fi|wlan|router|\bnetwork|\bssid|usuari|usuário|utilizador|utilisateur|utente|benutzer|anmeld|gebruiker|inlog|användar|bruker|bruger"
    r"|käyttäj|użytkownik|zaloguj|uživatel|používateľ|felhasznál|korisni|uporabni|utilizator|kullanıcı|kasutaja|naudotoj|lietotāj|логин|вход|пользовател|користувач|потребител|χρήστη|σύνδεση"
    r"|người dùng|đăng nhập|pengguna|masuk|mtumiaji|用户|帳號|账号|登录|ユーザー|ログイン|사용자|로그인|아이디|مستخدم|کاربر|משתמש|התחבר|उपयोगकर्ता|ผู้ใช้",
)
"""Words of signing in, as they stand in a lowered text."""

ACCOUNT = re.compile(
    SIGN_IN.pattern
    + r"|g-?mail|icloud|apple id|netflix|spotify|disney|amazon|paypal|facebook|instagram|hotspot|\bvpn|\bssh|\bs?ftp|\bnas\b|\badmin|\broot\b|\bpin\b|\bcode\b|unlock|zugang|\bserver\b|e-?mail|mailbox|portal|\bguests?\b|\bgast\b|\bsafe\b|tresor|alarm|rabbit|mqtt|minio|\bldap|\bbind\b|console|broker|\bsmtp|\bimap|redis|postgres|mysql|database|\bdb\b|camera|kamera|printer|drucker|tablet|laptop|\brdp\b|citrix|proxmox|jenkins|gitlab|grafana|\bget in\b|\bcome in\b|\bcreds?\b|credential|registrar|hosting|domain"
    r"|identifiant|accès|acceso|accesso|acesso|doступ|доступ|учетк|учётк|конто|konto|compte|cuenta|conta\b|hesap|tài khoản|akun|fiók|účet|účt"
)
"""Words beside which a string that is mixed as only a password is one."""
