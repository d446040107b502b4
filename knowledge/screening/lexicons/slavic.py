"""Slavic languages, with Greek, Hungarian and Finnish beside them."""

from knowledge.screening.concepts import Concept as C

WORDS: dict[C, str] = {
    C.OVERRIDE: """
        игнорируй*, игнорируйте, проигнорируй*, игнорировать, забудь, забудьте, забыть обо,
        не обращай внимания, не обращайте внимания, отбрось*, отмени*, отменены, отменяются,
        пренебреги, не следуй, не следуйте, не соблюдай, больше не действуют, утратили силу,
        перестань следовать, обойди, пропусти, нарушай, ігноруй*, ігноруйте, проігноруй*,
        не зважай*, не звертай уваги, відкинь*, скасуй, більше не діють, не дотримуйся, знехтуй,
        ігнорувати, zignoruj*, ignoruj*, ignorować, zapomnij*, pomiń, pomijaj, nie zwracaj uwagi,
        odrzuć, lekceważ, zlekceważ*, nie przestrzegaj, nie stosuj się, przestań stosować,
        już nie obowiązują, nie obowiązują, unieważnij, zapomeň*, ignorujte, nedbej, přehlížej,
        už neplatí, zabudni*, neplatia, игнорирай*, забрави, не обръщай внимание, вече не важат,
        игнориши, заборави*, занемари*, zanemari, ignoriši, ignoriraj*, αγνόησε, αγνοήστε,
        ξέχασε, ξεχάστε, παράβλεψε, παράκαμψε, μη λάβεις υπόψη, hagyd figyelmen kívül,
        figyelmen kívül, felejtsd el, felejts el, unohda, jätä huomiotta, älä välitä, ohita,
        sivuuta
    """,
    C.GUIDANCE: """
        инструкци*, указани*, правил*, предписани*, распоряжени*, команды, ограничени*,
        директив*, установк*, системный промпт, системное сообщение, системного промпта, промпт*,
        інструкці*, вказівк*, настанов*, правила, обмежен*, розпорядженн*, системний промпт,
        полецень, instrukcj*, poleceni*, poleceń, zasad*, reguł*, wytyczn*, ograniczeni*,
        dyrektyw*, wskazów*, prompt systemowy, komunikat systemowy, instrukce, instrukcí, pokyny,
        pokynů, pravidla, omezení, příkazy, inštrukcie, pravidlá, инструкции*, правилата,
        указания*, упутства, упутстава, uputstva, upute, οδηγίες, οδηγιών, κανόνες, εντολές,
        περιορισμούς, utasítás*, szabály*, korlátozás*, ohjeet, ohjeista, ohjeita, säännöt,
        määräykset, rajoitukset, järjestelmäkehote
    """,
    C.TOLD: """
        что тебе говорили, что тебе сказали, всё вышесказанное, все вышесказанное, всё сказанное,
        все сказанное, всё что было, що тобі казали, усе сказане, все сказане, co ci powiedziano,
        wszystko powyżej, to co powyżej, co ti bylo řečeno, vše výše, ό, τι σου είπαν,
        όλα τα παραπάνω, amit mondtak, mitä sinulle on sanottu, kaikki edellä
    """,
    C.PRIOR: """
        предыдущ*, прежни*, прошлы*, ранее, выше, полученн*, данные, исходны*, до этого,
        изначальн*, попередн*, минул*, раніше, отриман*, вище, початков*, poprzedni*,
        wcześniejsz*, dotychczasow*, powyższ*, otrzyman*, pierwotn*, obecn*, předchoz*,
        dřívější*, dosavadní*, výše, původní*, predchádzajúc*, doterajš*, предишн*, досегашн*,
        претходн*, prethodn*, dosadašnj*, προηγούμεν*, παραπάνω, έως τώρα, korábbi*, előző*,
        eddigi*, fenti, aiem*, edellis*, tähänastis*, yllä
    """,
    C.ALL: """
        все, всё, всех, всем, любой, любые, каждый, усі, всі, всіх, будь-які, wszystkie,
        wszystkich, wszelkie, każde, każdy, wszystko, všechny, všech, všetky, každý, всички, све,
        sve, όλες, όλους, όλα, κάθε, minden, összes, kaikki, jokainen, любых
    """,
    C.YOURS: """
        твои, твоих, твой, ваши, ваших, свои, своих, данные тебе, твої, твоїх, ваші, свої, twoje,
        twoich, swoje, swoich, tvoje, tvé, své, svoje, vaše, твоите, твоје, σου, τις οδηγίες σου,
        utasításaid*, szabályaid*, ohjeesi, sinun, sääntösi
    """,
    C.AI: """
        ии, искусственный интеллект, языковая модель, языковой модели, языковые модели,
        языковым моделям, нейросет*, чат-бот*, автоматические читатели, автоматические помощники,
        ии-агент*, ии-ассистент*, ши, штучний інтелект, мовна модель, мовні моделі,
        мовної моделі, нейромереж*, автоматичні помічники, автоматичні читачі, ai,
        sztuczna inteligencja, sztucznej inteligencji, model językowy, modele językowe,
        modelu językowy, asystenci automatyczni, automatyczni asystenci, automatyczni czytelnicy,
        agenci ai, asystent ai, umělá inteligence, jazykový model, jazykové modely,
        umelá inteligencia, езиков модел, изкуствен интелект, језички модел,
        вештачка интелигенција, jezički model, jezični model, τεχνητή νοημοσύνη,
        γλωσσικό μοντέλο, γλωσσικά μοντέλα, mesterséges intelligencia, nyelvi modell*, tekoäly*,
        kielimalli*
    """,
    C.AGENT: """
        ассистент*, помощник*, агент*, модель, модели, бот, асистент*, помічник*, моделі,
        asystent*, agent, agenci, agentów, model, modele, pomocník, agenti, модел, βοηθέ, βοηθός,
        μοντέλο, asszisztens*, ügynök*, modell, avustaja*, agentti, agentit, malli
    """,
    C.USER: """
        пользовател*, читател*, человек*, клиент*, никому, никто, заказчик*, користувач*, читач*,
        людин*, нікому, użytkownik*, czytelnik*, człowiek*, klient*, nikomu, nikt, uživatel*,
        čtenář*, používateľ*, потребител*, корисник*, korisnik*, χρήστη*, αναγνώστη, κανέναν,
        felhasználó*, olvasó*, senkinek, käyttäjä*, lukija*, kenellekään
    """,
    C.NOT: """
        не, без, никогда, ничего, нельзя, ні, ніколи, нічого, nie, bez, nigdy, nic, ne, nikdy,
        neříkej, nezmiňuj, няма, никога, ništa, nikad, μη, μην, χωρίς, ποτέ, τίποτα, nem, soha,
        nélkül, semmit, älä, ilman, koskaan, älkää, mitään, не сообщая, ei
    """,
    C.DISCLOSE: """
        говори*, сообщай*, сообщать, сообщи*, упоминай*, упоминать, упоминани*, рассказывай*,
        уведомля*, предупрежда*, раскрывай*, показывай*, знать, ставь в известность, кажи,
        казати, повідомляй*, повідомляти, згадуй*, згадувати, розповідай*, попереджа*, mów,
        mówić, informuj*, informować, wspominaj*, wspominać, zgłaszaj, ujawniaj*, powiadamia*,
        wiedział, wzmianki, říkej*, zmiňuj*, zmínky, neříkej, nezmiňuj, hovor, казвай,
        споменавай, уведомявай, спомињи, говори, pominji, spominji, pomeni, πεις, αναφέρεις,
        αναφέρετε, ενημερώσεις, ενημερώσετε, αποκαλύψεις, említsd, mondd, szólj, tájékoztasd,
        kerro, mainitse, ilmoita, kertomatta, mainitsematta
    """,
    C.CONCEAL: """
        не упоминайте, не упоминать, никому не говорить, не говорить, nikomu o tym nie,
        nie mówić, nie wspominać, nikomu nie mów, тайно, незаметно, втайне, молча, скрытно,
        скрой*, скрывай*, тихо, по-тихому, утаи*, таємно, непомітно, приховай*, мовчки, потай,
        potajemnie, po cichu, dyskretnie, w tajemnicy, ukryj*, ukrywaj*, przemilcz*,
        niepostrzeżenie, tajně, potichu, skrytě, nepozorovaně, zatajte, zataj, potajomky,
        незабелязано, скрий, кришом, tajno, kradom, krišom, κρυφά, αθόρυβα, διακριτικά, απόκρυψε,
        titokban, csendben, észrevétlenül, hallgasd el, salaa, hiljaa, huomaamatta, salaisesti,
        vaieten, nezmiňuj, neříkej, nezmiňujte, neříkejte, nic neříkej
    """,
    C.ASK: """
        спрашивай*, спрашивать, спроса, подтверждени*, разрешени*, согласи*, одобрени*, проверк*,
        запитуй*, запитувати, питати, підтвердження, дозволу, згоди, погодження, pytania, pytać,
        pytaj, potwierdzenia, potwierdzenie, zgody, zgoda, pozwolenia, weryfikacji, ptaní, ptát,
        potvrzení, souhlasu, svolení, opýtania, питане, потвърждение, разрешение, питања,
        потврде, дозволе, pitanja, potvrde, dozvole, ρωτήσεις, επιβεβαίωση, έγκριση, άδεια,
        kérdezés, megerősítés, jóváhagyás, engedély, kysymättä, vahvistusta, lupaa, hyväksyntää
    """,
    C.UNASKED: """
        kysymättä, от имени пользователя, w imieniu użytkownika
    """,
    C.CONSENTED: """
        уже дал согласие, уже согласился, уже одобрил, уже разрешил, вже дав згоду,
        вже погодився, już wyraził zgodę, już się zgodził, już zatwierdził, už souhlasil,
        už dal souhlas, вече се съгласи, έχει ήδη συμφωνήσει, már beleegyezett, on jo hyväksynyt
    """,
    C.SEND: """
        отправь*, отправляй*, отправить, перешли*, вышли*, пошли, опубликуй*, загрузи*, передай*,
        скопируй*, добавь*, добавляй*, вставь*, вставляй*, приложи, запиши, надішли*, надсилай*,
        відправ*, перешли, опублікуй*, завантаж*, скопіюй*, додай*, додавай, встав*, wyślij*,
        wysyłaj*, prześlij*, przesyłaj, przekaż*, opublikuj*, skopiuj*, dodaj*, dodawaj, wstaw*,
        dołącz*, zamieść, pošli*, odešli*, nahraj, přidej, vlož*, zveřejni, zkopíruj, pošlite,
        изпрати*, добави*, пошаљи*, додај, pošalji*, dodaj, στείλε*, στείλτε, προώθησε, πρόσθεσε,
        ανέβασε, αντέγραψε, küldd*, küldj*, töltsd fel, tedd közzé, add hozzá, lähetä*, lataa,
        julkaise, lisää, kopioi, liitä
    """,
    C.TALK: """
        диалог*, разговор*, переписк*, беседы, вопрос пользователя, последнее сообщение, истори*,
        розмов*, листуванн*, питання користувача, rozmow*, rozmów, konwersacj*,
        pytanie użytkownika, ostatnią wiadomość, historię, konverzac*, rozhovor*,
        dotaz uživatele, razgovor*, разговора, συνομιλία*, συζήτηση*, beszélgetés*, keskustelu*
    """,
    C.HOLDINGS: """
        заметк*, файл*, папк*, документ*, содержимое, библиотек*, контакты, памят*, нотатк*,
        теки, вміст, бібліотек*, notatk*, notatek, plik*, plików, folder*, dokument*, bibliotek*,
        zawartość, poznámk*, soubor*, složk*, dokumenty, belešk*, σημειώσεις, αρχεία, έγγραφα,
        φακέλους, jegyzet*, fájl*, mappák, dokumentum*, muistiinpano*, tiedosto*, kansiot,
        asiakirj*
    """,
    C.CREDENTIAL: """
        парол*, ключ*, токен*, секрет*, учётные данные, учетные данные, код из смс,
        облікові дані, паролі, hasł*, haseł, klucz*, tokenów, dane logowania, poświadczeni*,
        sekret*, heslo, hesla, hesel, klíč*, přihlašovací, парола, lozink*, лозинк*, κωδικό*,
        κλειδι*, διαπιστευτήρια, jelsz*, kulcs*, salasan*, avaim*, tunnukset
    """,
    C.INNARDS: """
        системный промпт, системного промпта, системное сообщение, свои инструкции,
        твои инструкции, свои указания, системний промпт, свої інструкції, твої інструкції,
        prompt systemowy, promptu systemowego, swoje instrukcje, twoje instrukcje,
        komunikat systemowy, systémový prompt, své instrukce, системния промпт, sistemski prompt,
        προτροπή συστήματος, οδηγίες σου, rendszerprompt*, järjestelmäkehot*, контекстное окно,
        okno kontekstu
    """,
    C.REVEAL: """
        покажи*, выведи*, раскрой*, напечатай*, повтори*, перечисли*, выдай*, напиши*, приведи,
        назови*, виведи*, розкрий*, надрукуй*, перелічи*, ujawnij*, pokaż*, wypisz*, wyświetl*,
        powtórz*, wymień, podaj*, wydrukuj, vypiš*, ukaž*, zopakuj, prozraď, odhal, покажи,
        изведи, prikaži, ispiši, αποκάλυψε, δείξε, τύπωσε, επανάλαβε, mutasd, írd ki, ismételd,
        fedd fel, näytä, tulosta, toista, paljasta, luettele
    """,
    C.READING: """
        когда ты читаешь, если ты читаешь, читающ*, прочитав*, при чтении, после прочтения,
        читает это, если ты ии, если ты языковая, когда прочтёшь, как только прочтёшь,
        обрабатывающ*, коли ти читаєш, якщо ти читаєш, читає це, прочитавши, czytając*, czyta to,
        czytasz to, jeśli to czytasz, gdy to czytasz, po przeczytaniu, jeśli jesteś,
        przetwarzając*, čte toto, čteš toto, pokud čteš, když toto, po přečtení, pokud jsi,
        čtoucí, čitaš, ако четеш, čitate ovo, διαβάζει αυτό, διαβάζεις αυτό, αν διαβάζεις,
        όταν διαβάσεις, olvassa, ha ezt olvasod, elolvasás*, lukee tämän, luet tämän, jos luet,
        luettuasi
    """,
    C.ANSWERING: """
        перед ответом, прежде чем ответить, на любой вопрос, любой вопрос, на каждый вопрос,
        каждый ответ, в каждом ответе, если спросят, в своём ответе, в своем ответе,
        перед відповіддю, на будь-яке питання, на кожне питання, кожну відповідь,
        у кожній відповіді, przed odpowiedzią, zanim odpowiesz, na każde pytanie, każde pytanie,
        w każdej odpowiedzi, jeśli ktoś zapyta, w swojej odpowiedzi, před odpovědí,
        na každou otázku, v každé odpovědi, na svako pitanje, σε κάθε ερώτηση, πριν απαντήσεις,
        σε κάθε απάντηση, minden kérdésre, mielőtt válaszolsz, ennen kuin vastaat,
        jokaiseen kysymykseen, jokaisessa vastauksessa
    """,
    C.CALL: """
        вызови*, вызывай*, запусти*, выполни*, выполняй*, используй*, виклич*, виконай*,
        використай*, wywołaj*, uruchom*, wykonaj*, użyj*, zavolej, spusť, proveď, použij,
        извикай, изпълни, pozovi, pokreni, κάλεσε, εκτέλεσε, χρησιμοποίησε, hívd, futtasd,
        használd, kutsu, suorita, käytä
    """,
    C.TOOL: """
        инструмент*, команд*, функци*, інструмент*, narzędzi*, poleceni*, nástroj*, εργαλείο,
        eszköz*, työkalu*
    """,
    C.MUST: """
        должен, должна, должны, обязан*, всегда, следует, необходимо, пожалуйста, повинен,
        повинні, завжди, мусиш, слід, musi, muszą, musisz, zawsze, należy, powinien, powinny,
        powinni, proszę, musí, vždy, трябва, винаги, мора, увек, πρέπει, πάντα, kell, mindig,
        täytyy, pitää, aina, tulee
    """,
    C.HENCEFORTH: """
        отныне, с этого момента, впредь, теперь ты, с этой минуты, отныне ты, новая задача,
        новые инструкции, новое правило, твоя настоящая задача, твоя новая задача, відтепер,
        віднині, з цього моменту, тепер ти, нова задача, нові інструкції, твоє нове завдання,
        твоє справжнє завдання, od teraz, odtąd, od tej chwili, od tej pory, nowe instrukcje,
        nowa zasada, twoje nowe zadanie, twoim zadaniem jest, twoje prawdziwe zadanie,
        od nynějška, odteď, nové pokyny, tvůj nový úkol, отсега нататък, од сада, od sada,
        από εδώ και πέρα, από τώρα, στο εξής, mostantól, ezentúl, új utasítás*, tästä lähtien,
        tästä eteenpäin, uudet ohjeet
    """,
    C.OBEY: """
        подчиняйся, подчиняешься, подчиняйтесь, слушайся, следуй только, следуйте только,
        выполняй только, повинуйся, воспринимай, считай, делай то, підкоряйся, підкоряєшся,
        слухайся, виконуй лише, виконуй тільки, дотримуйся лише, słuchaj tylko, podporządkuj,
        wykonuj tylko, wykonuj wyłącznie, przestrzegaj tylko, stosuj się tylko, traktuj,
        poslouchej jen, řiď se jen, řiď se pouze, подчинявай се, slušaj samo, υπάκουσε,
        ακολούθησε μόνο, engedelmeskedj, csak ezt kövesd, kövesd, tottele, noudata vain, kohtele
    """,
    C.SAY: """
        отвечай*, ответь*, отвечаешь, скажи*, утверждай*, пиши, напиши*, відповідай*, стверджуй*,
        odpowiadaj*, odpowiedz, odpowiedzcie, powiedz*, twierdź, napisz*, odpověz, odpovídej,
        řekni, tvrď, napiš, отговаряй, кажи, odgovaraj, reci, απάντησε, απάντα, πες, γράψε,
        válaszolj, mondd azt, írd, vastaa, sano, väitä, kirjoita
    """,
    C.SKIP: """
        пропускай*, пропусти*, пропускать, обходи, обойди, отключи*, отключай, одобряй*, одобри,
        соглашай*, подтверждай*, пропускайте, вимкни, оминай, схвалюй*, погоджуй*, pomijaj*,
        pomiń, wyłącz*, zatwierdzaj*, zatwierdź, akceptuj*, potwierdzaj*, obejdź, přeskoč*,
        vypni, schvaluj, schval, potvrď, пропускай, preskoči, odobri, παράλειψε, απενεργοποίησε,
        ενέκρινε, hagyd ki, kapcsold ki, hagyd jóvá, ohita, poista käytöstä, hyväksy
    """,
    C.SAFEGUARD: """
        подтверждени*, разрешени*, проверк*, валидаци*, предупреждени*, одобрени*, безопасност*,
        підтвердженн*, перевірк*, дозвол*, попередженн*, безпек*, potwierdze*, weryfikacj*,
        zgod*, ostrzeże*, zatwierdze*, bezpieczeństw*, kontrol*, potvrzení, kontroly, varování,
        ověření, schválení, έλεγχο*, επιβεβαίωση*, προειδοποίηση*, ellenőrzés*, jóváhagyás*,
        figyelmeztetés*, tarkistu*, vahvistu*, varoitu*, hyväksynt*
    """,
    C.LATER: """
        следующие агенты, будущие агенты, последующие агенты, наступні агенти, майбутні агенти,
        kolejni agenci, przyszli agenci, następni agenci, další agenti, budoucí agenti,
        tulevat agentit, при каждом запуске, za każdym razem
    """,
    C.RANK: """
        наш продукт, наши товары, nasz produkt, nasze produkty, náš produkt, рекомендуй*,
        рекомендовать, советуй*, лучш*, первым, на первое место, оценивай*, оцени*, найкращ*,
        першим, polecaj*, polecać, rekomenduj*, najlepsz*, pierwsz*, oceniaj*, oceń*, doporučuj*,
        doporuč*, nejlepší*, první*, препоръчвай*, preporuči*, najbolj*, σύστησε*, συνιστάς,
        καλύτερο*, πρώτο, ajánld*, legjobb*, elsőként, suosittele*, paras, parhaa*, ensimmäisenä
    """,
    C.OTHERS: """
        конкурент*, другие поставщики, других поставщиков, альтернатив*, всех остальных,
        остальных, інших постачальників, konkurenc*, konkurent*, innych dostawców, alternatyw*,
        pozostałych, konkurenty, ostatní, ανταγωνιστές, versenytárs*, kilpailij*, vaihtoehto*
    """,
    C.OMIT: """
        pominąć, pomija, pomijać, опустить, опускать, умолчать, не упоминать, vynechat,
        пропустити, умалчивай*, опускай*, опусти, не упоминай*, пропускай, замовчуй*, не згадуй*,
        pomijaj, pomiń, nie wspominaj*, przemilcz*, vynech*, nezmiňuj*, παράλειψε, μην αναφέρεις,
        hallgasd el, ne említsd, jätä mainitsematta, älä mainitse
    """,
    C.DRAWBACK: """
        риск*, побочн*, недостат*, жалоб*, дефект*, критик*, ризик*, побічн*, недолік*, скарг*,
        ryzyk*, skutki uboczne, skutków ubocznych, wad*, skarg*, reklamacj*, rizik*,
        vedlejší účinky, nedostatky, stížnost*, κινδύνους, παρενέργειες, μειονεκτήματα,
        kockázat*, mellékhatás*, hátrány*, panasz*, riski*, haittavaikutuks*, puutteet
    """,
    C.PERSONA: """
        теперь ты, ты теперь, притворись*, представь что ты, играй роль, веди себя как, тепер ти,
        ти тепер, уяви що ти, udawaj*, jesteś teraz, teraz jesteś, wciel się, předstírej,
        nyní jsi, teď jsi, hraj roli, pretvaraj se, sada si, είσαι τώρα, τώρα είσαι, προσποιήσου,
        mostantól te, tettesd, olet nyt, esitä, kuvittele olevasi
    """,
    C.UNBOUND: """
        без ограничений, без правил, без фильтров, без цензуры, никогда не отказывает,
        без обмежень, без фільтрів, без цензури, bez ograniczeń, bez zasad, bez filtrów,
        bez cenzury, nigdy nie odmawia, bez omezení, bez pravidel, bez filtrů, bez ograničenja,
        χωρίς περιορισμούς, χωρίς κανόνες, χωρίς φίλτρα, korlátok nélkül, szabályok nélkül,
        ilman rajoituksia, ilman sääntöjä, ilman suodattimia, режим разработчика,
        tryb deweloper*
    """,
    C.AUTHORITY: """
        администратор*, оператор*, разработчик*, адміністратор*, розробник*, administrator*,
        operator*, programist*, správce, vývojář*, διαχειριστή*, rendszergazda, fejlesztő*,
        ylläpitäjä*, kehittäjä*
    """,
    C.THIS: """
        этот текст, этому тексту, эту заметку, этот документ, эту страницу, цей текст,
        цьому тексту, цю нотатку, цей документ, цю сторінку, ten tekst, tego tekstu, tę notatkę,
        ten dokument, tę stronę, tento text, tuto stránku, tento dokument, този текст,
        ovaj tekst, αυτό το κείμενο, αυτό το έγγραφο, ezt a szöveget, ezt az oldalt, tämä teksti,
        tämän tekstin, tämän sivun
    """,
    C.HARM: """
        удали*, удалить, сотри*, переведи деньги, оплати*, видали*, переказ*, usuń*, skasuj*,
        przelej*, zapłać*, smaž*, odstraň*, zaplať*, изтрий, obriši, plati, διάγραψε, πλήρωσε,
        töröld*, fizesd*, poista*, maksa*
    """,
    C.DISCUSSED: """
        пример*, например, фраз*, цитат*, семинар*, роман, приклад*, наприклад, przykład*,
        na przykład, np., zdanie, cytat*, powieść, příklad*, například, věta, citát, пример,
        primer, παράδειγμα*, φράση, például, példa, mondat, esimerk*, lause
    """,
    C.ATTACK: """
        атак*, злоумышленник*, инъекци*, вредонос*, мошенник*, зловмисник*, ін'єкці*, ін’єкці*,
        шкідлив*, atak*, atakując*, napastnik*, wstrzyknię*, złośliw*, útok*, útočník*, injekc*,
        škodliv*, напад*, napad*, επίθεση*, επιτιθέμεν*, κακόβουλ*, támadás*, támadó*, hyökkäy*,
        hyökkääj*
    """,
    C.TOPIC: """
        на упаковке, на этикетке, моё сообщение, мое сообщение, моё предыдущее, мое предыдущее,
        на упаковці, моє повідомлення, na opakowaniu, mój mail, moja poprzednia, moją poprzednią,
        na obalu, můj mail, στη συσκευασία, a csomagoláson, pakkauksessa, edellinen viestini
    """,
    C.SOLICIT: """
        попроси пользователя, запроси у пользователя, спроси у пользователя, попроси користувача,
        запитай у користувача, poproś użytkownika o, zapytaj użytkownika o, požádej uživatele o,
        ζήτησε από τον χρήστη, kérd el a felhasználó, pyydä käyttäjältä
    """,
    C.DIGEST: """
        резюмир*, обобща*, пересказыв*, переводит*, переводящ*, обрабатыва*, підсумову*,
        узагальню*, перекладає, опрацьову*, streszcz*, podsumow*, tłumacz*, przetwarza*, shrnuj*,
        překlád*, zpracováv*, резюмира*, συνοψίζ*, μεταφράζ*, επεξεργάζ*, összefoglal*, fordít*,
        feldolgoz*, tiivist*, kääntä*, käsittel*
    """,
}
