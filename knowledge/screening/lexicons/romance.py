"""French, Spanish, Portuguese, Italian, Catalan and Romanian."""

from knowledge.screening.concepts import Concept as C

WORDS: dict[C, str] = {
    C.OVERRIDE: """
        ignore, ignores, ignorez, ignorer, ignorant, oublie, oubliez, oublier,
        ne tiens pas compte, ne tiens plus compte, ne tenez pas compte, ne tenez plus compte,
        ne tenir aucun compte, ne tiens aucun compte, fais abstraction, faites abstraction,
        écarte, passe outre, passez outre, désobéis, ne suis plus, ne suivez plus,
        ne respecte plus, contourne, annule, abandonne, laisse de côté, ne s'appliquent plus,
        ne s'applique plus, ignora, ignorad, ignoren, ignorar, ignorá, olvida, olvide, olviden,
        olvidar, olvidá, haz caso omiso, haga caso omiso, hagan caso omiso, caso omiso,
        no hagas caso, no tengas en cuenta, no tenga en cuenta, descarta, descarte, desestima,
        deja de lado, prescinde, pasa por alto, pase por alto, deja de seguir, ya no se aplican,
        quedan sin efecto, queda sin efecto, anula, salta, omite, suspende, esqueça, esquece,
        esqueçam, ignorem, desconsidere, desconsiderem, desconsiderar, despreze, deixe de lado,
        não siga, não sigas, deixe de seguir, não se aplicam mais, já não se aplicam,
        ficam sem efeito, ignorate, ignorare, ignori, dimentica, dimenticate, dimentichi,
        dimenticare, trascura, trascurate, non tenere conto, non tener conto, lascia perdere,
        scarta, scavalca, smetti di seguire, non valgono più, non seguire più, tralascia,
        accantona, oblida, no facis cas, uită, ignoră, ignorați, nu ține cont, nu mai respecta
    """,
    C.GUIDANCE: """
        instruction, instructions, consigne*, règle*, directive*, ordres, invite système,
        prompt système, message système, restrictions, contraintes, garde-fous, politique,
        lignes directrices, instrucciones, instrucción, reglas, normas, directrices, órdenes,
        indicaciones, pautas, restricciones, políticas, mensaje del sistema, prompt del sistema,
        instruções, instrução, regras, diretrizes, diretivas, ordens, orientações, restrições,
        prompt do sistema, mensagem do sistema, istruzioni, istruzione, regole, direttive,
        linee guida, ordini, indicazioni, restrizioni, vincoli, prompt di sistema,
        messaggio di sistema, instruccions, regles, instrucțiuni*, instrucțiunile, reguli,
        regulile, indicații*
    """,
    C.TOLD: """
        ce qu'on t'a dit, ce qui précède, tout ce qui précède, ce que l'on t'a dit,
        ce qu'on vous a dit, ce que tu as appris, lo que te han dicho, lo que se te dijo,
        todo lo anterior, lo anterior, lo que te dijeron, lo que se le indicó, o que te disseram,
        o que lhe disseram, tudo o que foi dito, tudo acima, tudo o que veio antes,
        o que foi dito, ciò che ti è stato detto, quello che ti è stato detto, quanto detto,
        tutto ciò che precede, quanto sopra, tot l'anterior, ce ți s-a spus, tot ce ți s-a spus
    """,
    C.PRIOR: """
        précédent, précédents, précédente, précédentes, antérieur*, reçues, reçus, ci-dessus,
        jusqu'ici, jusqu'à présent, initiales, initial, anciennes, données, anteriores, anterior,
        previas, previos, previo, precedentes, recibidas, hasta ahora, iniciales, originales,
        de arriba, prévias, prévios, recebidas, até agora, até aqui, acima, originais, iniciais,
        precedenti, precedente, ricevute, finora, fin qui, iniziali, originali, di sopra, sopra,
        anterioare, anterioarele, primite, de mai sus, avant, antes, prima
    """,
    C.ALL: """
        tout, toute, toutes, tous, chaque, n'importe quelle, todas, todos, todo, toda, cada,
        cualquier, qualquer, tutte, tutti, tutto, ogni, qualsiasi, totes, tots, toate, orice
    """,
    C.YOURS: """
        tes, ton, ta, vos, votre, tus, tu, sus, vuestras, vuestros, tuas, teus, tua, teu, suas,
        seus, tue, tuoi, tuo, vostre, vostri, tale, le tue, les teves, recibiste, has recibido,
        as reçues, avez reçues, reçu
    """,
    C.AI: """
        ia, i.a., intelligence artificielle, modèle de langage, modèles de langage,
        modèle de langue, assistants automatiques, assistant automatique, assistants automatisés,
        lecteurs automatiques, lecteurs automatisés, agents automatiques, assistant virtuel,
        agents ia, inteligencia artificial, modelo de lenguaje, modelos de lenguaje,
        asistentes automáticos, asistente automático, lectores automáticos, sistemas automáticos,
        asistente virtual, agentes automáticos, inteligência artificial, modelo de linguagem,
        modelos de linguagem, assistentes automáticos, leitores automáticos, assistente virtual,
        intelligenza artificiale, modello linguistico, modelli linguistici,
        assistenti automatici, lettori automatici, assistente virtuale, agenti automatici,
        model lingvistic, model de limbaj, inteligență artificială, asistenți automați,
        model de llenguatge, chatbot, systèmes automatisés, sistemas automatizados,
        sistemi automatici
    """,
    C.AGENT: """
        assistant, assistants, assistante, agent, agents, modèle, modèles, asistente, asistentes,
        agente, agentes, modelo, modelos, assistente, assistentes, assistenti, agenti, modello,
        modelli, asistent*, robot
    """,
    C.USER: """
        utilisateur*, lecteur, lecteurs, client, personne, humain, demandeur, usuario*, usuaria,
        lector*, cliente, persona, nadie, humano, solicitante, usuário*, utilizador*, leitor*,
        ninguém, pessoa, requerente, utente, utenti, lettore, lettori, nessuno, umano,
        richiedente, utilizator*, cititor*, nimeni, usuari
    """,
    C.NOT: """
        ne, n', pas, sans, jamais, aucun, aucune, rien, no, sin, nunca, jamás, nada, ningún,
        ninguna, não, sem, nem, nenhum, nenhuma, non, senza, mai, nulla, niente, nessun, nu,
        fără, niciodată, sense
    """,
    C.DISCLOSE: """
        dis, dire, dites, indique, indiquer, indiquez, mentionne, mentionner, mentionnez,
        informe, informer, prévenir, préviens, révèle, révéler, signale, signaler, avertir,
        divulguer, parle, parler, savoir, digas, diga, decir, decirle, dile, menciones, mencione,
        mencionar, informes, informar, avises, avisar, reveles, revelar, indiques, indicar,
        adviertas, sepa, cuentes, comunicar, dizer, avise, revele, conte, saiba, comunique,
        dirlo, menzionare, menzioni, informare, avvisare, avvertire, rivelare, segnalare,
        comunicare, sappia, spune, menționa, menționezi, informa, anunța, esmentar, signalement,
        mention, aviso
    """,
    C.CONCEAL: """
        discrètement, secrètement, silencieusement, en silence, en secret, à l'insu, en cachette,
        cache, cachez, dissimule, tais, garde pour toi, passe sous silence, en silencio,
        en secreto, discretamente, silenciosamente, sin que se note, a escondidas, oculta,
        ocultar, calla, ocultando, em silêncio, em segredo, secretamente, às escondidas, oculte,
        esconda, sem que, in silenzio, di nascosto, segretamente, senza farsi notare, nascondi,
        nascondere, taci, all'insaputa, pe ascuns, în tăcere, discret, sense que
    """,
    C.ASK: """
        demander, demande, confirmation, autorisation, approbation, permission, vérification,
        vérifier, accord, preguntar, preguntes, pregunte, pedir, confirmación, autorización,
        aprobación, permiso, consultar, revisar, revisión, perguntar, pergunte, confirmação,
        autorização, aprovação, permissão, revisão, consentimento, chiedere, chiedi, conferma,
        autorizzazione, approvazione, permesso, revisione, verifica, întreba, confirmare,
        aprobare, permisiune, consentement, consentimiento, consenso
    """,
    C.UNASKED: """
        a nom de l'utilisateur, au nom de l'utilisateur, en nombre del usuario,
        em nome do usuário, a nome dell'utente
    """,
    C.CONSENTED: """
        a déjà consenti, a déjà accepté, a déjà approuvé, a déjà donné son accord,
        ya ha dado su consentimiento, ya ha aceptado, ya ha aprobado, ya dio su consentimiento,
        já consentiu, já aprovou, já autorizou, ya autorizó, ha già acconsentito,
        ha già approvato, ha già autorizzato
    """,
    C.SEND: """
        envoie, envoyez, envoyer, transmets, transmettre, transmettez, publie, publiez, publier,
        téléverse, ajoute, ajoutez, ajouter, insère, insérez, insérer, copie, copiez, transfère,
        joins, poste, envía, envíe, envíen, enviar, envia, manda, mande, sube, suba, publica,
        publique, publicar, reenvía, reenvíe, añade, añada, agrega, inserta, inserte, copia,
        incluye, incluya, envie, enviem, carregue, encaminhe, adicione, insira, inclua,
        acrescente, anexe, invia, inviate, inviare, invii, carica, pubblica, inoltra, aggiungi,
        aggiungere, inserisci, includi, allega, trimite, trimiteți, publică, adaugă, copiază
    """,
    C.TALK: """
        conversation, la conversation, dernier message, question de l'utilisateur, historique,
        échange, conversación, último mensaje, pregunta del usuario, historial, diálogo,
        conversa, última mensagem, pergunta do usuário, histórico, conversazione,
        ultimo messaggio, domanda dell'utente, cronologia, dialogo, conversație, nom et question
    """,
    C.HOLDINGS: """
        notes, fichiers, dossiers, documents, bibliothèque, contenus, contacts, archivos,
        carpetas, notas, documentos, biblioteca, contenido, arquivos, ficheiros, pastas,
        conteúdo, cartelle, documenti, contenuti, fișiere*, notițe*, documente*, mémoire,
        memoria, memória, variables d'environnement, variables de entorno, variáveis de ambiente
    """,
    C.CREDENTIAL: """
        mot de passe, mots de passe, identifiants, clé api, clés api, clés, jetons, jeton,
        secrets, contraseña*, credenciales, claves, clave api, claves de api, llaves, secretos,
        senha, senhas, credenciais, chaves, chave de api, segredos, credenziali, chiavi,
        chiave api, password, segreti, parole, parola, parolele, chei, carte bancaire, tarjeta,
        cartão, carta di credito, code à usage unique, código de verificación
    """,
    C.INNARDS: """
        prompt système, invite système, message système, tes instructions, tes consignes,
        vos instructions, prompt del sistema, mensaje del sistema, tus instrucciones,
        prompt de sistema, prompt do sistema, mensagem do sistema, suas instruções,
        tuas instruções, prompt di sistema, messaggio di sistema, le tue istruzioni,
        tue istruzioni, ta configuration, tu configuración, instructions initiales,
        instrucciones iniciales, promptul de sistem, fenêtre de contexte, ventana de contexto,
        tu contexto
    """,
    C.REVEAL: """
        révèle, révélez, affiche, affichez, montre, montrez, donne, donnez, répète, répétez,
        recopie, imprime, liste, écris, revela, revele, muestra, muestre, imprima, repite,
        repita, lista, escribe, responde con, responda con, responde solo con, réponds avec,
        responda apenas com, mostre, escreva, rivela, mostra, stampa, ripeti, elenca, scrivi,
        rispondi con, arată, afișează, repetă
    """,
    C.READING: """
        quand tu lis, si tu lis, lisant ceci, lisent ceci, lit ceci, à la lecture, en lisant,
        qui lit ce, qui lisez, après lecture, dès que tu, si tu es une ia, si vous êtes une ia,
        al leer, cuando leas, si lees, si estás leyendo, quien lea, que lea esto, que leas esto,
        que leen esto, lee esto, leyendo esto, tras leer, después de leer, si eres una ia,
        ao ler, quando ler, se você é uma, se estiver lendo, que leia, que lê isto, lendo isto,
        depois de ler, quem ler, quando leggi, se leggi, se stai leggendo, leggendo questo,
        che legge, che leggono, chi legge, dopo aver letto, se sei un'ia, alla lettura,
        când citești, care citește, dacă citești, se sei un, cuando proceses, al procesar,
        en traitant, al resumir, ao resumir, en résumant
    """,
    C.ANSWERING: """
        avant de répondre, à chaque réponse, chaque réponse, à toute question, toute question,
        dans ta réponse, si on te demande, si l'on te demande, quand on te demande,
        antes de responder, en cada respuesta, cada respuesta, a cualquier pregunta,
        cualquier pregunta, toda pregunta, en tu respuesta, si te preguntan, cuando te pregunten,
        em cada resposta, cada resposta, a qualquer pergunta, qualquer pergunta, na sua resposta,
        se perguntarem, quando perguntarem, prima di rispondere, in ogni risposta, ogni risposta,
        a ogni domanda, ogni domanda, qualsiasi domanda, nella tua risposta, se ti chiedono,
        quando ti chiedono, înainte de a răspunde, fiecare răspuns, orice întrebare
    """,
    C.CALL: """
        appelle, appelez, exécute, exécutez, exécuter, lance, lancez, utilise, utilisez, invoque,
        llama, llame, ejecuta, ejecute, ejecutar, usa, use, utiliza, utilice, invoca, chame,
        execute, executar, rode, utilize, chiama, esegui, eseguire, utilizza, avvia, apelează,
        execută, rulează, folosește
    """,
    C.TOOL: """
        outil, outils, commande, commandes, herramienta*, comando*, ferramenta*, strumento,
        strumenti, comandi, unealt*, comenzi
    """,
    C.MUST: """
        doit, doivent, dois, devez, toujours, obligatoire, debe, deben, debes, debéis, siempre,
        obligatorio, tiene que, tienes que, deve, devem, deves, sempre, obrigatório, tem que,
        devi, dovete, devono, obbligatorio, trebuie, întotdeauna, mereu, por favor,
        s'il te plaît, il faut
    """,
    C.HENCEFORTH: """
        à partir de maintenant, désormais, dorénavant, dès maintenant, dès à présent,
        nouvelle consigne, nouvelles consignes, nouvelle règle, nouvelles instructions,
        ta nouvelle tâche, ta vraie tâche, ta véritable tâche, a partir de ahora,
        de ahora en adelante, desde ahora, en adelante, en lo sucesivo, nueva regla,
        nuevas instrucciones, tu nueva tarea, tu verdadera tarea, tu tarea ahora,
        a partir de agora, de agora em diante, daqui em diante, doravante, nova regra,
        novas instruções, sua nova tarefa, sua verdadeira tarefa, d'ora in poi, da ora in poi,
        da adesso, da questo momento, nuova regola, nuove istruzioni, il tuo nuovo compito,
        il tuo vero compito, tuo vero compito, de acum înainte, de acum, noile instrucțiuni,
        ahora eres, agora você é, ora sei, tu es maintenant, a partir d'ara
    """,
    C.OBEY: """
        obéis, obéissez, obéir, suis uniquement, suivez uniquement, suis seulement, ne suis que,
        applique, fais ce que dit, traite, comme des ordres, comme une instruction,
        comme des instructions, obedece, obedezca, sigue solo, sigue únicamente, sigue solamente,
        haz lo que, trata, como órdenes, como instrucciones, obedeça, siga apenas, siga somente,
        siga só, faça o que, trate, como ordens, como instruções, obbedisci, segui solo,
        segui soltanto, segui esclusivamente, fai ciò che, fai quello che, tratta, come ordini,
        come istruzioni, ascultă doar, urmează doar, obéis seulement, prioridad,
        priorité absolue
    """,
    C.SAY: """
        réponds, répondez, répondre, dis que, écris, affirme, prétends, déclare, décris,
        responde, responda, respondan, contesta, conteste, di que, diga que, afirma, afirme,
        escribe, describe, declara, diga, escreva, descreva, rispondi, rispondete, di' che, dica,
        afferma, scrivi, descrivi, dichiara, răspunde, spune că, scrie, presenta
    """,
    C.SKIP: """
        valident d'office, d'office, valider d'office, aprobar automáticamente,
        approuver d'office, approuvent, aprueban, aprovam, approvano, saute, sautez, ignore,
        désactive, désactivez, approuve, approuvez, accepte, acceptez, valide, confirme,
        contourne, réponds oui, omite, omita, salta, salte, desactiva, desactive, aprueba,
        apruebe, acepta, acepte, confirma, responde sí, pule, pular, desative, aprove, aceite,
        responda sim, saltare, disattiva, approva, accetta, conferma, rispondi sì, sări peste,
        dezactivează, aprobă
    """,
    C.SAFEGUARD: """
        autorisation*, confirmation*, validation*, vérification*, avertissement*, contrôle*,
        approbation*, revue, sécurité, permiso*, confirmación*, validación*, verificación*,
        advertencia*, aprobación*, revisión*, seguridad, permiss*, confirmação*, validação,
        verificação*, aviso*, aprovação, segurança, autorizzazion*, conferma, convalida,
        verifica, avviso, avvisi, approvazione, sicurezza, revisione, permisiun*, confirmare,
        verificare
    """,
    C.LATER: """
        agents suivants, futurs agents, prochains agents, futuros agentes, próximos agentes,
        los demás agentes, agentes futuros, agenti futuri, prossimi agenti, à chaque exécution,
        en cada ejecución, em cada execução, a ogni esecuzione
    """,
    C.RANK: """
        notre produit, nos produits, nuestro producto, nuestros productos, nosso produto,
        nostro prodotto, nuestra tienda, notre boutique, recommande, recommandez, recommander,
        recommandation, classe, meilleur, meilleure, préfère, premier, en premier,
        première place, recomienda, recomiende, recomendar, recomendación, mejor, prefiere,
        primero, en primer lugar, recomende, melhor, prefira, primeiro, em primeiro lugar,
        raccomanda, consiglia, consigliare, migliore, preferisci, primo, per primo,
        al primo posto, recomandă, cel mai bun, califica, puntúa, valuta
    """,
    C.OTHERS: """
        concurrents, autres fournisseurs, alternatives, tous les autres, toutes les autres,
        competidores, competencia, otros proveedores, alternativas, los demás, concorrentes,
        outros fornecedores, os outros, todos os outros, concorrenti, altri fornitori,
        alternative, tutti gli altri, concurenți
    """,
    C.OMIT: """
        omitir, omettre, ometter*, omisión, omission, passer sous silence, ocultar, omets,
        omettez, passe sous silence, ne mentionne pas, ne mentionne aucun, laisse de côté, tais,
        omite, omita, no menciones, no mencione, oculta, não mencione, deixe de fora, oculte,
        ometti, tralascia, non menzionare, nascondi, nu menționa
    """,
    C.DRAWBACK: """
        accidentes, accidents, incidentes, incidents, acidentes, incidenti, plaintes, rappels,
        retiradas, risques, risque, effets secondaires, effets indésirables, défauts,
        inconvénients, critiques, riesgo*, efectos secundarios, defectos, inconvenientes, quejas,
        desventajas, risco*, efeitos colaterais, efeitos secundários, defeitos, reclamações,
        desvantagens, rischi, rischio, effetti collaterali, difetti, svantaggi, reclami,
        riscuri*
    """,
    C.PERSONA: """
        tu es maintenant, tu es désormais, vous êtes maintenant, fais semblant, joue le rôle,
        agis comme, ahora eres, eres ahora, finge, actúa como, haz el papel, você agora é,
        agora você é, finja, aja como, interprete, ora sei, adesso sei, fingi, agisci come,
        interpreta, acum ești, comportă-te ca, haz como si
    """,
    C.UNBOUND: """
        sans restriction*, sans règles, aucune règle, sans filtre*, sans limites, aucune limite,
        sans censure, ne refuse jamais, sin restricciones, sin reglas, sin filtros, sin límites,
        sin censura, nunca se niega, nunca rechaza, sem restrições, sem regras, sem filtros,
        sem limites, sem censura, nunca recusa, senza restrizioni, senza regole, senza filtri,
        senza limiti, senza censura, non rifiuta mai, fără restricții, fără reguli, fără filtre,
        modo desarrollador, mode développeur, modo desenvolvedor, modalità sviluppatore
    """,
    C.AUTHORITY: """
        opérateur, administrateur, développeur*, operador, administrador, desarrollador*,
        desenvolvedor*, operatore, amministratore, sviluppatore, sviluppatori,
        équipe de sécurité, equipo de seguridad, direction générale
    """,
    C.THIS: """
        ce texte, cette note, ce document, cette page, ce fichier, cette fiche, este texto,
        esta nota, este documento, esta página, este archivo, este arquivo, questo testo,
        questa nota, questo documento, questa pagina, questo file, acest text, acest document,
        questo messaggio, este mensaje, ce message
    """,
    C.HARM: """
        supprime, supprimez, efface, verse, paie, payez, borra, borre, elimina, elimine,
        transfiere, paga, apague, exclua, delete, transfira, pague, cancella, eliminate,
        trasferisci, șterge, plătește, invite, concede
    """,
    C.DISCUSSED: """
        exemple*, par exemple, la phrase, séminaire, roman, tel que, telle que, ejemplo*,
        por ejemplo, la frase, citado, seminario, novela, tal como, exemplo*, por exemplo,
        a frase, citação, romance, esempio, esempi, ad esempio, per esempio, citazione, romanzo,
        exemplu, de exemplu
    """,
    C.ATTACK: """
        attaque*, attaquant*, injection*, malveillant*, ataque*, atacante*, inyección*,
        malicios*, injeção*, attacco, attacchi, attaccante, aggressor*, iniezione, malevol*,
        atac*, injecție, estafa*, golpe, arnaque*, truffa, phishing, hameçonnage
    """,
    C.TOPIC: """
        sur l'emballage, sur la notice, del paquete, del envase, en el envase, el paquete,
        da embalagem, na embalagem, sulla confezione, nel manuale, mon message,
        mon dernier message, mon mail, mi mensaje, mi correo, minha mensagem, il mio messaggio,
        la mia mail
    """,
    C.SOLICIT: """
        demande à l'utilisateur, demandez à l'utilisateur, demande son mot de passe,
        pide al usuario, pídele al usuario, solicita al usuario, pida al usuario,
        peça ao usuário, peça ao utilizador, solicite ao usuário, chiedi all'utente,
        chiedete all'utente, cere utilizatorului
    """,
    C.DIGEST: """
        résum*, tradui*, traite*, consultent, consulte, resum*, traduc*, procesa*, consultan,
        consulta, resumir, traduz*, processa*, riassum*, sintetizza*, elabora*, consultano,
        rezum*
    """,
}
