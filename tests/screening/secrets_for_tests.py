"""Credentials of every kind, put together from parts so that no scanner takes them for live."""

# ruff: noqa: E501

import base64
import json
import random
import string

_DICE = random.Random(20240607)


def noise(length: int, signs: str = string.ascii_letters + string.digits) -> str:
    return "".join(_DICE.choice(signs) for _ in range(length))


def _hex(length: int) -> str:
    return noise(length, "0123456789abcdef")


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _signed(claims: dict[str, object]) -> str:
    parts = ({"alg": "RS256", "typ": "JWT"}, claims)
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    ]
    return ".".join([*encoded, noise(43)])


_BEGIN, _END = "-----BEGIN ", "-----END "
_BODY = "\n".join(noise(64) for _ in range(3))

SECRETS = [
    f"The summariser talks to the model with sk-{'ant'}-api03-{noise(90)}AA until the budget is clear.",
    f"openai.api_key = 'sk-{'proj'}-{noise(48)}'",
    f"[default]\naws_access_key_id = AKIA{noise(16, string.ascii_uppercase + '234567')}\naws_secret_access_key = {noise(40)}",
    f"curl -H 'PRIVATE-TOKEN: gl{'pat'}-{noise(20)}' https://git.example.com/api/v4/projects",
    f"git remote set-url origin https://ci:gh{'p'}_{noise(36)}@git.example.com/a/b.git",
    f"bot token for the alerts channel: xo{'xb'}-{noise(12, string.digits)}-{noise(12, string.digits)}-{noise(24)}",
    f"Post to https://hooks.slack{'.com'}/services/T{noise(9)}/B{noise(9)}/{noise(24)} when the build breaks.",
    f"STRIPE = \"sk_{'live'}_{noise(24)}\"",
    f"TWILIO_API_KEY=S{'K'}{_hex(32)}",
    f"mailer: S{'G'}.{noise(22)}.{noise(43)}",
    f"//registry.example.com/:_authToken=n{'pm'}_{noise(36)}",
    f"[pypi]\nusername = __token__\npassword = py{'pi'}-AgEIcHlwaS5vcmc{noise(60)}",
    f"from huggingface_hub import login; login('h{'f'}_{noise(34)}')",
    f"TELEGRAM_TOKEN: {noise(10, '123456789')}:AA{noise(33)}",
    f"Key for maps: AI{'za'}{noise(35)}",
    f"export DO_TOKEN=do{'p'}_v1_{_hex(64)}",
    f"databricks configure --token da{'pi'}{_hex(32)}",
    f"VAULT_TOKEN=hv{'s'}.{noise(40)}",
    f"age identity: AGE-{'SECRET'}-KEY-1{noise(58, string.ascii_uppercase + string.digits)}",
    f"The agent reads with qr{'y'}_{noise(43)}{noise(6)} as its token.",
    f"{_BEGIN}EC PRIVATE KEY-----\n{_BODY}\n{_END}EC PRIVATE KEY-----",
    f"{_BEGIN}PGP PRIVATE KEY BLOCK-----\n\n{_BODY}\n=a1B2\n{_END}PGP PRIVATE KEY BLOCK-----",
    json.dumps({"type": "service_account", "private_key": f"{_BEGIN}PRIVATE KEY-----\n{_BODY}\n{_END}PRIVATE KEY-----\n"}),
    f"Cookie: session={_signed({'sub': 'u-4411', 'tenant': 'north'})}",
    "DATABASE_URL=postgresql://ledger:" + "Ruby!mast-48" + "@10.2.3.4:5432/ledger",
    "mongodb+srv://reports:" + "kV7pastel91" + "@cluster0.example.net/?retryWrites=true",
    "headers = {'Authorization': 'Basic " + _b64("deploy:Wren-Tower-908") + "'}",
    "curl -u importer:" + "Lime7Quarry!" + " https://api.example.com/v1/items",
    "docker login registry.example.com -u robot -p " + "Fjord-Kettle-33",
    "mysql -h db1 -u root -p" + "Anvil88torch shop < dump.sql",
    "PGPASSWORD=" + "heron#Delta5 psql -h db -U app",
    "redis-cli -h cache -a " + "Salt9Harbor-mint ping",
    "smtp:\n  host: mail.example.com\n  password: " + "gK4%Willow-tarn",
    "<connection><user>svc</user><password>" + "Plover_72!den" + "</password></connection>",
    "apiVersion: v1\nkind: Secret\ndata:\n  db-password: " + _b64("Cinder&Moss17"),
    "- name: ADMIN_PASSWORD\n  value: " + "Topaz-Mill-6620",
    "provider \"db\" {\n  username = \"root\"\n  password = \"" + "oaK!9Lantern" + "\"\n}",
    "ENV API_SECRET " + noise(32),
    "db.internal:5432:ledger:svc:" + "Mica44-Orchard",
    "The password for the guest network is " + "Juniper-4471" + " until Friday.",
    "Das Kennwort für den Beamer lautet „" + "Lampe77grün" + "“.",
    "Le mot de passe du coffre est « " + "Tilleul-82bis" + " ».",
    "La contraseña del router es " + "Naranja#551x",
    "Пароль от кассы: " + "Berёza-9114",
    "会议室的密码是 " + "Bamboo8823!",
    "Recovery codes of the admin account:\n" + "\n".join(f"{_hex(4)}7-{_hex(5)}" for _ in range(4)),
    "Seed phrase of the till: " + "anchor velvet cabin orbit lemon tunnel salad river magnet puzzle olive garden",
    "otpauth://totp/Shop:ana?" + "secret=" + noise(32, string.ascii_uppercase + "234567") + "&issuer=Shop",
    "key = 'gh" + "p_" + noise(18) + "' +\n      '" + noise(18) + "'",
    "blob: " + _b64("STRIPE_KEY=sk_" + "live_" + noise(24)),
]  # fmt: skip

_UPPER = string.ascii_uppercase + string.digits
_SEED = ["anchor", "velvet", "cabin", "orbit", "lemon", "tunnel"]
_SEED += ["salad", "river", "magnet", "puzzle", "olive", "garden"]


def _groups(count: int, size: int, signs: str, by: str = "-") -> str:
    return by.join(noise(size, signs) for _ in range(count))


BESIDE_THEIR_NAME = [
    "Entrad con el usuario secretaria y la contraseña " + "Girasol.Verde_58" + ".",
    "Masuk dengan nama pengguna lurah03, kata sandinya " + "Melati-Pagi-614" + ".",
    "Az adatbázis jelszava " + "Gesztenye%41ut" + ", a felhasználó raktar.",
    "Síť Ordinace, heslo k wifi je " + "mlha-na-Vltave-1903" + ".",
    "Με όνομα χρήστη syllogos και κωδικό πρόσβασης " + "Aigaio_7Kyma" + ".",
    "Kompyuta inafunguliwa kwa nenosiri " + "Mbuni_Jua4471" + ".",
    "Käyttäjä on vahti ja salasanaksi vaihdettiin " + "Kuusi_881z" + ".",
    "Użytkownik magazyn, hasłem jest " + "Brzoza!2290" + " do odwołania.",
    "סיסמת הראוטר היא " + "Zayit!5521",
    "wifi 비번은 " + "Haneul7788!" + " 입니다",
    "Login for the booking site: desk / " + "Marmot_44Lake",
    "The password is capital R, then the word heron, an underscore, the digits 5 1 8, and an exclamation mark.",
    "The archive password comes in two parts.\nfirst half: " + "Cobble7-" + "\nsecond half: " + "ferrY.Ochre",
]  # fmt: skip

CODES = [
    "The gate code is " + "4471#" + ". Please close it behind you.",
    "PIN of the tablet: " + "839201" + ".",
    "SIM PIN " + "4086" + ", PUK " + "61930275" + ". The antenna is tightened.",
    "Der Tresor im Büro geht mit " + "17-42-08-33" + " auf.",
    "You have 45 seconds: enter " + "90317" + " and then OFF on the panel.",
    "Dørkoden er " + "5092#" + ", og den skal tastes inden for fem sekunder.",
    "קוד הכניסה לבניין הוא " + "2749" + " ואחריו כוכבית.",
    "Puis armer l'alarme. Le code est " + "7204" + " suivi de la touche étoile.",
    "Код от сейфа: " + "7391-22",
    "大门密码是 " + "7719#",
    "| Where | Code |\n|---|---|\n| Main gate | " + "1946*" + " |\n| Garage | 88210 |",
    "Name\tPIN\nAda\t" + "4471",
    "BitLocker asked for the recovery key. It is " + _groups(8, 6, string.digits) + ".",
    "FileVault recovery key: A1" + noise(2, _UPPER) + "-" + _groups(5, 4, _UPPER),
    "The setup key again: 7k3w " + _groups(7, 4, "qxzvkw2357", " ") + ". Time-based.",
    "I made an app password for it: " + "xicr zpen " + "abry unqs" + " (scans).",
    "Treasury wallet, words in order:\n" + " ".join(f"{at} {word}" for at, word in enumerate(_SEED, 1)),
    "Seed words:\n" + "\n".join(f"{at}. {word}" for at, word in enumerate(_SEED, 1)),
]  # fmt: skip

KEYS = [
    f'client = Twilio::REST::Client.new("AC{_hex(32)}", "{_hex(32)}")',
    "ftp.login('uploader', '" + "Krokus-88!tal" + "')",
    f"AccessKeyId 是 LTAI5t{noise(18)}，AccessKeySecret 是 7{noise(29)}，存储桶在杭州。",
    f"Workshop wallet: address 0x{_hex(40)}, private key 0x{_hex(64)}.",
    f"Public side 1{noise(33)}, private side 5J{noise(49, 'abcdefghijkmnopqrstuvwxyz23456789')}.",
    f"curl -H 'Authorization: SSWS 00{noise(40)}' https://harbour.example.com/api/v1/users",
    f"Authorization: GenieKey {_hex(8)}-{_hex(4)}-4{_hex(3)}-{_hex(4)}-{_hex(12)}",
    f'var signingKey = []byte("{noise(32)}")',
    f'var aesKey = Encoding.UTF8.GetBytes("{noise(32)}");',
    "uint8_t aes_key[16] = {" + ", ".join(f"0x{at:x}{_hex(1)}" for at in range(16)) + "};",
    f"wget 'https://rates.example.com/latest?base=NOK&app_id={_hex(32)}'",
    f"here is the key for the tide API, it is one string:\n\n  tide_{'live'}_{noise(30)}\n  {noise(30)}\n",
    f'PART_A = "gh{"p"}_{noise(16)}"\nPART_B = "{noise(20)}"\nHEADERS = "token " + PART_A + PART_B',
    "It is user and password, encoded: " + _b64("newsdesk:" + "Heath3r-Anchor!5") + ".",
    f"upload with sk.{_b64('{' + chr(34) + 'u' + chr(34) + ':' + chr(34) + 'trailmap-of-the-north' + chr(34) + '}').rstrip('=')}.{noise(22)} and then publish",
    "snmp-server community " + "kR7pastel91" + " RO",
    "nmcli dev wifi connect Depot password " + "Amsel-7719x",
]  # fmt: skip
"""Key pairs, wallets, headers, constants of code, addresses and commands."""
