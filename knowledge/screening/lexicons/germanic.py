"""German, Dutch, Swedish, Danish and Norwegian."""

from knowledge.screening.concepts import Concept as C

WORDS: dict[C, str] = {
    C.OVERRIDE: """
        ignoriere, ignorieren, ignoriert, ignorier, vergiss, vergesst, vergessen sie, missachte,
        missachten, missachtet, nicht beachten, nicht mehr beachten, beachte nicht, unbeachtet,
        verwirf, verwerfen sie, setze außer kraft, außer kraft, setz dich über, über alle,
        hinweg, lass außer acht, außer acht, umgehe, umgehen, gelten nicht mehr, gilt nicht mehr,
        nicht länger gültig, hebe auf, aufgehoben, überschreibe, negeer, negeren, vergeet,
        schenk geen aandacht, sla geen acht, niet langer, gelden niet meer, gooi weg, omzeil,
        ignorera, glöm, strunta i, bortse från, gäller inte längre, åsidosätt, ignorer, glem,
        se bort fra, tilsidesæt, gælder ikke længere, gjelder ikke lenger, overse, tilsidesett
    """,
    C.GUIDANCE: """
        anweisung*, anweisungen, vorgabe*, regel, regeln, richtlinie*, instruktion*,
        systemprompt, system-prompt, systemanweisung*, sicherheitsregel*, vorschrift*, befehle,
        beschränkungen, einschränkungen, leitlinien, aufträge, auftrag, instructies, instructie,
        regels, richtlijn*, aanwijzing*, opdrachten, voorschriften, beperkingen, systeemprompt,
        instruktioner, anvisningar, riktlinjer, regler, föreskrifter, instrukser, instruksjoner,
        retningslinjer, anvisninger, begrænsninger, begrensninger
    """,
    C.TOLD: """
        dir gesagt wurde, ihnen gesagt wurde, was man dir gesagt, was dir gesagt,
        was dir aufgetragen, alles obige, alles bisherige, alles vorherige, was bisher,
        alles davor, wat je verteld is, wat je is verteld, alles hierboven, wat hiervoor,
        allt ovan, det du fått veta, det du har fått höra, alt ovenfor, det du har fået at vide,
        det du har fått beskjed om
    """,
    C.PRIOR: """
        vorherig*, bisherig*, frühere*, vorangegangen*, vorige*, vorigen, bisher, zuvor,
        vorhergehend*, ursprünglich*, obigen, obige, bestehenden, eerdere, vorige, voorgaande,
        bovenstaande, tot nu toe, oorspronkelijke, bestaande, tidigare, föregående, ovanstående,
        hittills, ursprungliga, tidligere, foregående, ovenstående, hidtidige, hittil,
        opprinnelige
    """,
    C.ALL: """
        alle, allen, alles, sämtliche*, jede, jeden, jeder, elke, iedere, alla, allt, varje, alt,
        hver, enhver, samtlige, ganze, gesamte*
    """,
    C.YOURS: """
        deine, deinen, deiner, dein, ihre, ihren, eure, je, jouw, uw, din, dina, ditt, dine, dit
    """,
    C.AI: """
        ki, ki-assistent*, ki-modell*, ki-agent*, ki-system*, sprachmodell*, sprach-ki,
        künstliche intelligenz, automatisierte leser, automatische leser,
        automatisierte assistenten, automatischer assistent, automatische assistenten,
        taalmodel*, ai-assistent*, ai-model*, ai-agent*, ai-systemen, kunstmatige intelligentie,
        geautomatiseerde lezers, geautomatiseerde assistenten, språkmodell*, sprogmodel*,
        ai-assistenter, automatiska läsare, automatiserede læsere, automatiserte lesere,
        kunstig intelligens, artificiell intelligens, ki-assistenten
    """,
    C.AGENT: """
        assistent*, agenten, modell, modelle, modellen, model, bot, agenter, digitaler helfer,
        digitale helfer, systeme, systemen
    """,
    C.USER: """
        nutzer*, benutzer*, anwender*, leser*, fragenden, fragesteller*, menschen, person,
        kunden, kunde, niemand*, jemand*, gebruiker*, lezer*, klant, mens, användare*, läsaren,
        människan, bruger*, bruker*, læseren, leseren
    """,
    C.NOT: """
        nicht, kein, keine, keinen, keinem, ohne, niemals, nie, nichts, niet, geen, nooit,
        zonder, niets, inte, aldrig, utan, ingen, inget, ikke, uden, aldri, uten, intet,
        ingenting, keinesfalls, unterlasse
    """,
    C.DISCLOSE: """
        sagen, sage, sag, erwähne, erwähnen, erwähnt, mitteilen, teile mit, melden, melde,
        informieren, informiere, verraten, verrate, berichten, berichte, hinweisen, weise hin,
        offenlegen, anzeigen, erfahren, erfährt, wissen, bescheid, vermelden, vermeld, vertellen,
        vertel, zeggen, zeg, meld, noemen, informeren, laten weten, weten, nämna, nämn, berätta,
        säga, säg, informera, meddela, avslöja, visa, nævne, nævn, fortælle, fortæl, oplyse,
        informere, nevne, nevn, fortelle, fortell, opplyse, varsle, erwähnung, hinweis,
        preisgeben
    """,
    C.CONCEAL: """
        hinweis unterbleibt, hinweis darauf unterbleibt, unterbleibt, wird nicht erwähnt,
        werden nicht erwähnt, ohne hinweis, ohne es zu sagen, zeg er niet bij,
        zonder het te zeggen, zonder te zeggen, utan att säga, uden at sige, uten å si, heimlich,
        stillschweigend, unbemerkt, unauffällig, verschweige, verschweigen, verschwiegen,
        verheimliche, verheimlichen, im hintergrund, behalte für dich, für dich behalten,
        lautlos, stilletjes, heimelijk, ongemerkt, verzwijg, verzwijgen, geheim houden,
        houd geheim, i hemlighet, tyst, obemärkt, dölj, förtig, hemmeligt, i det skjulte,
        diskret, skjul, fortie, i hemmelighet, i stillhet, stille og roligt
    """,
    C.ASK: """
        fragen, frage, nachfrage, nachzufragen, rückfrage, rückfragen, zu fragen, bestätigung,
        zustimmung, genehmigung, erlaubnis, prüfung, freigabe, einwilligung, vragen, vraag,
        te vragen, bevestiging, toestemming, goedkeuring, controle, fråga, att fråga,
        bekräftelse, godkännande, tillåtelse, spørge, at spørge, bekræftelse, godkendelse,
        tilladelse, spørre, å spørre, bekreftelse, godkjenning, tillatelse
    """,
    C.UNASKED: """
        im namen des nutzers, namens de gebruiker
    """,
    C.CONSENTED: """
        bereits zugestimmt, bereits eingewilligt, bereits genehmigt, schon zugestimmt,
        reeds toegestemd, al toestemming gegeven, al goedgekeurd, har redan godkänt,
        har allerede godkendt, har allerede godkjent
    """,
    C.SEND: """
        sende, senden, schicke, schick, schicken, sendet, übermittle, übermitteln, hochladen,
        lade hoch, leite weiter, weiterleiten, veröffentliche, poste, füge ein, füge an,
        hänge an, anhängen, kopiere, übertrage, einbetten, bette ein, stuur, verstuur, verzend,
        upload, doorsturen, plaats, kopieer, voeg toe, insluiten, skicka, ladda upp,
        vidarebefordra, lägg till, bifoga, publicera, send, videresend, last opp, legg til,
        tilføj, vedhæft
    """,
    C.TALK: """
        gespräch, gesprächsverlauf, unterhaltung, chatverlauf, frage des nutzers,
        letzte nachricht, gesprek, gespreksgeschiedenis, chatgeschiedenis, laatste bericht,
        vraag van de gebruiker, samtalet, konversationen, samtale, samtalen, konversation,
        chathistorik, dialog, bisherigen chat, name und frage
    """,
    C.HOLDINGS: """
        notizen, dateien, ordner, dokumente, dokumenten, inhalte, bibliothek, posteingang,
        kontakte, notities, bestanden, mappen, documenten, bibliotheek, anteckningar, filer,
        mappar, dokument, noter, mapper, dokumenter, notater, wissensdatenbank, gedächtnis,
        umgebungsvariablen
    """,
    C.CREDENTIAL: """
        passwort, passwörter, kennwort, kennwörter, zugangsdaten, schlüssel, api-schlüssel,
        geheimnisse, anmeldedaten, wachtwoord, wachtwoorden, inloggegevens, sleutel, sleutels,
        toegangscodes, geheimen, lösenord, inloggningsuppgifter, nycklar, hemligheter,
        adgangskode*, adgangskoder, nøgler, passord, nøkler, hemmeligheder, umgebungsvariablen,
        tan, kreditkarte*, einmalcode
    """,
    C.INNARDS: """
        systemprompt, system-prompt, systemanweisung*, deine anweisungen, deinen anweisungen,
        deinen systemprompt, deine konfiguration, deine vorgaben, systeemprompt, je instructies,
        jouw instructies, systemprompten, dina instruktioner, dine instruktioner,
        systemmeddelande, dine instrukser, kontextfenster, systemnachricht
    """,
    C.REVEAL: """
        zeige, zeig, gib aus, gib, ausgeben, nenne, nenn, wiederhole, drucke, offenbare, verrate,
        liste, schreibe, antworte mit, antworte nur mit, geef, toon, herhaal, druk af, onthul,
        noem, antwoord met, visa, skriv ut, upprepa, avslöja, lista, svara med, vis, gentag,
        udskriv, afslør, gjenta, skriv, avslør, svar med, ge, gi
    """,
    C.READING: """
        wenn du das liest, wenn du dies liest, wer das liest, wer dies liest, der das liest,
        die das liest, die dies lesen, die das lesen, der dies liest, dies liest, beim lesen,
        sobald du, nach dem lesen, wenn du diesen text, falls du eine ki, wenn du eine ki,
        wenn du ein, dies lesen, das lesen, lesende, als je dit leest, wie dit leest,
        die dit leest, bij het lezen, zodra je, na het lezen, när du läser, som läser detta,
        när du läst, når du læser, som læser dette, når du leser, som leser dette, den som leser,
        dit lezen, lees je dit, diesen text verarbeite*, diese seite zusammenfass*
    """,
    C.ANSWERING: """
        vor der antwort, bevor du antwortest, bevor sie antworten, in jeder antwort,
        jede antwort, auf jede frage, jede frage, wenn jemand fragt, bei jeder anfrage,
        in deiner antwort, am ende jeder, am ende deiner, voor je antwoordt, in elk antwoord,
        op elke vraag, elke vraag, als iemand vraagt, in je antwoord, innan du svarar,
        varje svar, varje fråga, i ditt svar, før du svarer, hvert svar, hvert spørgsmål,
        hvert spørsmål, alle weiteren fragen, alle fragen, weitere fragen
    """,
    C.CALL: """
        rufe, ruf, aufrufen, rufe auf, führe aus, führe, ausführen, starte, verwende, benutze,
        roep aan, roep, voer uit, voer, gebruik, start, anropa, kör, använd, kald, kør, brug,
        kjør, bruk, starta
    """,
    C.TOOL: """
        werkzeug*, befehl*, befehle, shell-befehl*, tool, opdracht*, gereedschap, verktyg*,
        kommando*, værktøj*, verktøy*
    """,
    C.MUST: """
        muss, müssen, musst, immer, sollen, soll, sollst, stets, verpflichtet, zwingend, bitte,
        moet, moeten, altijd, dienen te, verplicht, måste, alltid, ska, skall, skal, altid, må
    """,
    C.HENCEFORTH: """
        ab jetzt, ab sofort, von nun an, von jetzt an, künftig, fortan, ab diesem punkt,
        deine neue aufgabe, deine eigentliche aufgabe, deine wahre aufgabe, neue anweisung,
        neue anweisungen, neue regel, dauerhaft, vanaf nu, voortaan, je nieuwe taak,
        je echte taak, nieuwe instructies, nieuwe regel, från och med nu, hädanefter,
        din nya uppgift, din riktiga uppgift, nya instruktioner, fra nu af, fremover, herefter,
        din nye opgave, fra nå av, heretter, din nye oppgave, nye instrukser, nye instruktioner,
        jetzt bist du, du bist jetzt, du bist nun
    """,
    C.OBEY: """
        gehorche*, befolge, befolgen, folge nur, folge ausschließlich, folge diesem,
        halte dich nur, tu was, tue was, behandle, als befehl, als anweisung, als befehle,
        als anweisungen, gehoorzaam, volg alleen, volg uitsluitend, volg deze, behandel,
        als opdracht, doe wat, lyd, följ bara, följ endast, följ denna, behandla, gör vad, adlyd,
        følg kun, følg bare, følg denne, behandl, gør hvad, gjør det, gehorchst, untersteht,
        vorrang
    """,
    C.SAY: """
        antworte, antworten, antwortet, sage, sag, behaupte, behaupten, schreibe, gib an, nenne,
        bezeichne, beschreibe, stelle dar, erkläre, antwoord, zeg, beweer, schrijf, beschrijf,
        noem, svara, säg, påstå, skriv, beskriv, svar, sig, hevd, si
    """,
    C.SKIP: """
        überspringe*, überspringen, übergehen, bestätige, bestätigen, deaktiviere*, abschalten,
        schalte ab, genehmige*, freigeben, zustimmen, stimme zu, umgehen, weglassen, sla over,
        overslaan, goedkeuren, keur goed, bevestig, schakel uit, uitschakelen, hoppa över,
        godkänn, stäng av, bekräfta, spring over, godkend, slå fra, bekræft, hopp over, godkjenn,
        slå av, bekreft, nicht nötig, überflüssig
    """,
    C.SAFEGUARD: """
        prüfung*, freigabe*, genehmigung*, bestätigung*, sicherheitsabfrage*, rückfrage*,
        berechtigung*, warnung*, überprüfung*, sicherheitsprüfung*, controle*, goedkeuring,
        toestemming, bevestiging, veiligheidscontrole, waarschuwing*, granskning*, godkännande,
        bekräftelse, säkerhetskontroll*, varning*, kontrol*, godkendelse, bekræftelse, advarsel*,
        advarsler, godkjenning, bekreftelse, sikkerhetssjekk*, sicherheitshinweis*
    """,
    C.LATER: """
        künftige agenten, spätere agenten, nachfolgende agenten, toekomstige agenten,
        latere agenten, framtida agenter, fremtidige agenter, bei jedem lauf, elke keer,
        andere agenten
    """,
    C.RANK: """
        nennt das produkt, unbedenklich, webwinkel, unseren shop, unser produkt, unsere produkte,
        ons product, empfiehl, empfehle, empfehlen, empfehlung, bewerte, bewerten, bevorzuge,
        bevorzugen, beste, besten, an erster stelle, zuerst, höchste, bestnote, einzige,
        aanbevelen, beveel aan, raad aan, beoordeel, eerst, voorkeur, rekommendera, bäst, bästa,
        först, betygsätt, anbefal, bedst, bedste, først, anbefale, best, vurder, allerbeste
    """,
    C.OTHERS: """
        alle anderen, andere anbieter, anderen anbieter, konkurrenz, wettbewerber*, mitbewerber*,
        alternativen, andere produkte, andere aanbieders, concurrent*, alternatieven, alla andra,
        konkurrenter, alternativ, alle andre, konkurrent*, alternativer
    """,
    C.OMIT: """
        lässt weg, lässt die, lassen weg, weggelassen, laten weg, gelöscht, lass weg, weglassen,
        lasse weg, verschweige*, nicht erwähnen, erwähne nicht, erwähne keine, laat weg,
        weglaten, noem niet, vermeld geen, utelämna, nämn inte, udelad, nævn ikke, utelat,
        nevn ikke, keine erwähnung
    """,
    C.DRAWBACK: """
        rückruf*, rückrufaktion, unfälle, vorfälle, ongevallen, olyckor, ulykker, risiken,
        risiko, nebenwirkung*, schwäche*, mängel, nachteil*, beschwerden, kritik, warnhinweis*,
        risico*, bijwerking*, nadelen, klachten, gebreken, risker, biverkning*, nackdelar,
        klagomål, brister, risici, bivirkning*, ulemper, klager, mangler, risikoer
    """,
    C.PERSONA: """
        du bist jetzt, du bist nun, sie sind jetzt, du bist, spiele die rolle, tu so,
        verhalte dich als, je bent nu, doe alsof, speel de rol, du är nu, låtsas, spela rollen,
        du er nu, du er nå, lad som om, late som, spil rollen
    """,
    C.UNBOUND: """
        ohne einschränkung*, ohne regeln, keine regeln, ohne filter, keine filter, ohne grenzen,
        keine grenzen, uneingeschränkt, unzensiert, zonder beperkingen, zonder regels,
        geen regels, zonder filter, onbeperkt, ongecensureerd, utan begränsningar, inga regler,
        utan filter, obegränsad, uden begrænsninger, ingen regler, uden filter,
        uten begrensninger, uten filter, verweigert nie, entwicklermodus, ontwikkelaarsmodus
    """,
    C.AUTHORITY: """
        betreiber*, administrator, systemverwalter, entwickler, beheerder, exploitant,
        ontwikkelaar, utvecklare, udvikler, utvikler, sicherheitsabteilung
    """,
    C.THIS: """
        dieser text, diesem text, diesen text, diese notiz, dieses dokument, diese seite,
        dieser seite, dieser eintrag, dieses produkt, deze tekst, deze notitie, dit document,
        deze pagina, denna text, detta dokument, denna sida, denne tekst, dette dokument,
        denne side, denne teksten, dette notatet, dieser datei, diese datei
    """,
    C.HARM: """
        lösche, löschen, löscht, überweise*, bezahle*, verwijder, wissen, betaal, maak over,
        radera, ta bort, betala, slet, betal, slett, fjern, lade ein, freigeben
    """,
    C.DISCUSSED: """
        beispiel*, zum beispiel, z.b., zitat*, zitiert, satz, sätze, schulbeispiel, seminar,
        vortrag, schulung, etwa, roman, voorbeeld*, bijvoorbeeld, zin, citaat, exempel,
        till exempel, meningen, eksempel, for eksempel, sætningen, setningen, warnung vor
    """,
    C.ATTACK: """
        angriff*, angreifer*, einschleusung*, schadhaft*, bösartig*, prompt-injection, aanval*,
        aanvaller*, injectie*, kwaadaardig*, angrepp, angripare, attack, angreb, angriber,
        angrep, täuschung
    """,
    C.TOPIC: """
        auf der packung, auf der verpackung, in der anleitung, op de verpakking,
        in de handleiding, på förpackningen, på pakken, meine letzte, meine vorherige,
        mein letztes, mijn vorige, mitt förra, min tidligere, min forrige
    """,
    C.SOLICIT: """
        frage den nutzer nach, frage nach dem passwort, bitte den nutzer um,
        fordere den nutzer auf, frag den nutzer nach, vraag de gebruiker om,
        vraag de gebruiker naar, be användaren om, be användaren ange, bed brugeren om,
        be brukeren om
    """,
    C.DIGEST: """
        zusammenfass*, zusammenzufass*, übersetz*, auswert*, verarbeit*, maschinell, samenvat*,
        vertaal*, verwerk*, sammanfatt*, översätt*, bearbeta*, sammenfatt*, opsummer*,
        oppsummer*, oversæt*, oversett*, behandler
    """,
}
