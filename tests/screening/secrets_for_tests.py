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
    f"Paper wallet, the WIF starts with a K as it should: K{noise(50)}0I",
    f"twilio: account AC{_hex(32)} auth {_hex(32)} , no messages after nine",
    f"The id is public, and {noise(23)}Kq4 the key secret.",
    f"verification token from the webhook page: {noise(24)}7",
    f'{{"kty":"oct","k":"{noise(43)}","alg":"HS256"}}',
    f"-----BEGIN OpenVPN Static key V1-----\n{chr(10).join(_hex(32) for _ in range(16))}\n-----END OpenVPN Static key V1-----",
    f"Cookie: __Secure-next-auth.session-token={noise(60)}; theme=dark",
    f"zigbee network key: [{', '.join(str(at * 13 % 256) for at in range(1, 17))}]",
]  # fmt: skip
"""Key pairs, wallets, headers, constants of code, addresses and commands."""


def _uuid() -> str:
    return "-".join(_hex(size) for size in (8, 4, 4, 4, 12))


_LOWER = string.ascii_lowercase + string.digits
VENDORS = [
    f"re_{noise(8)}_{noise(24)}", f"bk{'ua'}_{_hex(40)}", f"CCIP{'AT'}_{noise(22)}_{_hex(40)}", f"EZ{'AK'}{noise(54)}",
    f"sk_{_hex(48)}", f"FLW{'SECK'}-{noise(32, _LOWER)}-X", f"fio-{'u'}-{noise(64)}", f"ico-{noise(32)}", f"jca_{noise(36)}",
    f"mlsn.{_hex(64)}", f"lip_{noise(19)}7", f"pnu_{noise(36)}", f"rdme_{noise(70, _LOWER)}", f"sha256~{noise(43)}",
    f"API-7{noise(25, _UPPER)}", f"os_v2_{'app'}_{noise(100, 'abcdefghijklmnopqrstuvwxyz234567')}", f"napi_{noise(64, _LOWER)}",
    f"tgp_v1_{noise(43)}", f"fc-{_hex(32)}", f"e2b_{_hex(40)}", f"llx-{noise(48)}", f"fw_{noise(24)}", f"wandb_v1_{noise(77)}",
    f"pat-{'eu1'}-{_uuid()}", f"access-{'production'}-{_uuid()}", f"tfp_{noise(59)}", f"AT{'TA'}{_hex(72)}",
    f"vercel_blob_rw_{noise(16)}_{noise(30)}", f"nbp_{noise(36)}", f"syt_{noise(12)}_{noise(20)}_{noise(6)}", f"ddp_{noise(36)}",
    f"SWM{'TKN'}-1-{noise(50, _LOWER)}-{noise(25, _LOWER)}", f"K10{_hex(64)}::server:{_hex(32)}", f"waka_{_uuid()}", f"sdk-{_uuid()}",
    f"squ_{_hex(40)}", f"CLOJARS_{noise(60, _LOWER)}", f"AB{'SK'}{noise(120)}", f"AQ.{'Ab'}8R{noise(45)}", f"xox{'d'}-{noise(80)}",
    f"gl{'rtr'}-{noise(27)}", f"figu_{noise(40)}", f"gb_api_{noise(40)}", f"pk_{_hex(34)}", f"npg_7{noise(11)}", f"oy2{noise(43, _LOWER)}",
    f"1/1203948571234567:{_hex(32)}", f"00D5g000001abcd!AQ{noise(90)}", f"LT{'AI'}5t{noise(18)}", f"AK{'ID'}7{noise(31)}",
    f"{noise(52)}JQQJ99{noise(26)}", f"{_uuid()}:fx", f"u+{noise(17)}7", f"cio7{noise(31)}", f"crsr_{_hex(64)}",
]  # fmt: skip
"""Tokens in the shapes of vendors, each enough by itself."""

COMMANDS = [
    "keytool -importkeystore -srcstorepass " + "chandler77Moss" + " -destkeystore shop.p12",
    "plink -ssh backup@10.0.4.8 -pw " + "Larch-Tinsel44" + " 'df -h'",
    "pdftotext -upw " + "Heath-Ledger5" + " contract.pdf -",
    "Connect-VIServer vc.lan -User op -Password " + "Krill9-Bastion",
    "ipmitool -I lanplus -H 10.3.0.9 -U ADMIN -P " + "Gusset.Thorn88" + " chassis power status",
    "twine upload -u uploader -p " + "Sprig7-Anvil" + " dist/*",
    "snmpwalk -v2c -c " + "kite-Fennel92" + " 10.1.1.1 sysDescr",
    "rabbitmqctl add_user shipping " + "Cobalt.Wren-5",
    "mc alias set depot https://s3.depot.lan harbour " + "xQ4vTansyLoom92kd",
    "htpasswd -bc /etc/nginx/.htpasswd preview " + "Damson4Kite" + "\nsystemctl reload nginx",
    "`printf \"preview:$(openssl passwd -apr1 " + "Kestrel2Damson" + ")\" > .htpasswd`",
    "echo " + "Barge-Linnet58" + " | kinit svc@CORP.LAN",
    "sudo -S <<< '" + "Mica!Weir903" + "' apt update",
    "sqlplus payroll/" + "Hawthorn_91" + "@//ora-prod.hr.example:1521/PAYPDB @close.sql",
    "jdbc:oracle:thin:billing/" + "q7_Sorrel_Weir" + "@10.44.2.8:1521:BILL",
    "rman target sys/" + "Wharf7teak" + "@prod1",
    "skopeo copy --dest-creds robot:" + "Girder.Elm505" + " oci:a docker://r.example/x",
    "secretsdump.py CORP/audit:" + "Harrier_77Lye" + "@10.0.0.4",
    "redis> AUTH default " + "Nettle.Kiln-408",
    "USER kassa\nPASS " + "Eibe_Turm72" + "\n230 Logged on",
    f"dotnet nuget push Kiln.nupkg -k oy2{noise(43, _LOWER)} -s https://nuget.example/v3",
]  # fmt: skip

SETTINGS = [
    "helm upgrade mon charts/mon --set adminPassword='" + "Tallow+Bridge90" + "'",
    "MINIO_ROOT_PASSWORD=" + "Redwing-Gill_5",
    f"NEXTAUTH_SECRET={noise(31)}7",
    "accountPassword = '" + "Serin-Vault22" + "'",
    "binddn cn=reader\nbindpw " + "Thrush-0nyx.Delta" + "\nssl on",
    "storePassword \"" + "Pumice.Lynx_77" + "\"\nkeyAlias \"upload\"",
    "masterauth " + "Whin-Tarn.505",
    "defmodule Pager do\n  @api_token \"" + f"{noise(20)}7x" + "\"\nend",
    "#define WIFI_PASS \"" + "Zichorie-Steg55" + "\"",
    "remotepass = " + "Whimbrel_8cleat",
    "mqttPass: " + "Curlew-Tin28",
    "define( 'DB_PASSWORD', '" + "w7]Lark&Oboe{2e" + "' );",
    "config.setProperty(\"db.password\", \"" + "Dotterel=8yew" + "\")",
    "ds.setPassword(\"" + "Whinchat9-ore" + "\");",
    "ADMIN_PASS=" + "Ouzel{3}fen!",
    "db_pass: " + "!Rost_Laub88",
    "smtpPassword=" + "@Hirse.Mohn21",
    "password=" + "Kamm,Erbse;7",
    "return new PasswordAuthentication(\"bookings\", \"" + "Capstan8rope!Iris" + "\");",
    "DBI->connect(\"dbi:Pg:dbname=parish\", \"parish\", \"" + "vesper/Oriel.31" + "\", {});",
    "$pdo = new PDO($dsn, 'shop', '" + "Wheatear8/fell" + "');",
    "ftp.login('foto', '" + "Estragon_66!" + "')",
    "client 10.0.0.0/24 {\n  secret = " + "Garganey-71xx" + "\n}",
    "10.0.0.1 10.0.0.2 : PSK \"" + "Dipper-Crock!907" + "\"",
    "[smtp.relay.example]:587 news@x.example:" + "Spindle_Oat44",
    "crypto isakmp key " + "Wigeon4!lathe" + " address 203.0.113.8",
    "<Password><Value>" + "Petrel+Dock44" + "</Value></Password>",
    "<key>password</key>\n<string>" + "Skua_Plank71" + "</string>",
    "<tr><td>Password</td><td>" + "Wiesel_Korb92" + "</td></tr>",
    "userPassword:: " + _b64("Plinth_Oak31"),
    "await page.fill('#password', '" + "Gorse-Pan_772" + "');",
]  # fmt: skip
"""Values that configuration, code and markup give, with a blank, a comma or a bracket for a joint."""

TOLD = [
    "neo4j: bolt://graph.lan:7687, login neo4j / " + "Spindrift-Gable6" + ".",
    "minio console: ring / " + "Petunie_Hafen77",
    "community string is " + "qT-Barnacle-rw" + " (write!)",
    "user nms, auth phrase \"" + "mallow.Truss.81" + "\", priv phrase \"" + "Gimbal.sedge.14" + "\"",
    "WPA key, first half: " + "gR7v-pasture" + "\nsecond half, no space between: " + "-Lantern09",
    "Password begins with \"" + "Folio" + "\" and\ncontinues here with \"" + "-Vellum#1488" + "\".",
    "WiFi \"Seeblick-Gast\", code " + "moewe-sand-2024" + ".",
    "The other network is only for the tills, that's " + "Kassen!Fjord_61" + ".",
    "Apple ID klasse4b@schule.example with " + "Igel!Laub_2016" + ", charger in the drawer.",
    "for netflix it's my gmail and then capital T turnip dash ninety-one dash Walrus",
    "Password for the till: " + "kilo echo seven tango dash four two zulu.",
    "Das Passwort habe ich in " + "Salbei_Rost905" + " geändert.",
    "Zmieniłem hasło na " + "Jarzebina_Las45" + ".",
    "ssh pi@10.0.0.3, pw " + "Zeisig_Nuss41",
    "Gebruiker balie, ww " + "Meerkoet_88sloot",
    "Passphrase: " + "otter mango seventeen lantern quiet",
    "you need the master password, which is: " + "Otter-Mole-Heath-77!",
    "Passwort für den Drucker: " + "90418827",
    "Name,Host,Login,Pass\nPrepress Mac,10.2.0.14,proof," + "Halftone*CMYK8",
    "host       user     password\nnas01      oma      " + "Milan-Dach_83",
]  # fmt: skip

LOCKS = [
    "Street door " + "1958A" + ", the lift needs the fob.",
    "the safe in the back office is 34 right, 11 left, " + "52 right.",
    "Padlock on the boathouse is R12-L30-" + "R07.",
    "Old iPad: screen code " + "140392" + ".",
    "agent: which PIN did you set?\n14:03 merchant: " + "4471" + ", thank you",
    "front door " + "4471" + ", alarm " + "90235" + ", shed 1180.",
    "Zoom passcode " + "482913" + ", meeting id 812 3344 5566.",
    "le code de déverrouillage de la tablette est " + "580214",
    "Bike lock: " + "4-1-8-6",
    "The garage keypad takes " + "80351" + ".",
    "card PIN " + "four-four-seven-one",
]  # fmt: skip
