// Files dropped or chosen, many at once and whole folders: each is sent in three steps, with its
// progress. A recording tells its price under "On the way" and waits there for a yes.

const AT_ONCE = 3;
const MOST = 2000;
const NO_ID = "00000000-0000-0000-0000-000000000000";

const area = document.querySelector("[data-drop]");
const form = area.querySelector("[data-files]");
const list = form.querySelector("[data-uploads]");
const waiting = [];
let running = 0;
let refreshing = 0;

form.addEventListener("submit", (event) => {
    event.preventDefault();
    const inputs = form.querySelectorAll("input[type=file]");
    add([...inputs].flatMap((input) => [...input.files]));
    inputs.forEach((input) => { input.value = ""; });
});
for (const kind of ["dragenter", "dragover"]) {
    area.addEventListener(kind, (event) => {
        if (event.dataTransfer?.types.includes("Files")) {
            event.preventDefault();
            area.classList.add("dropping");
        }
    });
}
area.addEventListener("dragleave", (event) => {
    if (!area.contains(event.relatedTarget)) {
        area.classList.remove("dropping");
    }
});
area.addEventListener("drop", async (event) => {
    if (!event.dataTransfer?.types.includes("Files")) {
        return;
    }
    event.preventDefault();
    area.classList.remove("dropping");
    // Entries are gone once the event is over, so all are taken before any is read.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    const files = [...event.dataTransfer.files];
    const found = [];
    for (const entry of entries) {
        if (entry) {
            await collect(entry, found);
        }
    }
    add(found.length ? found : files);
});

async function collect(entry, found) {
    if (found.length >= MOST || entry.name.startsWith(".")) {
        return;
    }
    if (entry.isFile) {
        found.push(await new Promise((take, refuse) => entry.file(take, refuse)));
        return;
    }
    const reader = entry.createReader();
    for (;;) {
        const some = await new Promise((take, refuse) => reader.readEntries(take, refuse));
        if (!some.length) {
            return;
        }
        for (const each of some) {
            await collect(each, found);
        }
    }
}

function add(files) {
    const wanted = files.filter((file) => !file.name.startsWith(".")).slice(0, MOST);
    for (const file of wanted) {
        waiting.push({ file, line: showLine(file) });
    }
    for (let count = running; count < AT_ONCE; count += 1) {
        work();
    }
}

async function work() {
    const next = waiting.shift();
    if (!next) {
        return;
    }
    running += 1;
    try {
        const answer = await send(next.file, next.line);
        if (answer.item) next.line.row.dataset.item = answer.item;
        settle(next.line, answer.state === "priced" ? "Asks first, see On the way" : "Sent", "plain");
    } catch (problem) {
        settle(next.line, problem.message || "It could not be sent.", "fail");
    }
    running -= 1;
    refresh();
    work();
}

async function send(file, line) {
    const begun = await ask(area.dataset.begin, { name: file.name, type: file.type, size: file.size });
    if (new URL(begun.url, location).origin !== location.origin) {
        return sendByForm(file);
    }
    await put(file, begun, line);
    const told = new FormData(form);
    const answer = await ask(area.dataset.finish.replace(NO_ID, begun.id), {
        folder: told.get("folder"),
        tags: told.get("tags"),
    });
    return answer;
}

async function ask(url, body) {
    const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token() },
        body: JSON.stringify(body),
    });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) {
        throw new Error(answer.problem || answer.message || "The server did not take it.");
    }
    return answer;
}

function put(file, begun, line) {
    return new Promise((done, refuse) => {
        const request = new XMLHttpRequest();
        request.open(begun.method, begun.url);
        for (const [name, value] of Object.entries(begun.headers)) {
            request.setRequestHeader(name, value);
        }
        request.upload.addEventListener("progress", (event) => {
            line.bar.max = event.total;
            line.bar.value = event.loaded;
        });
        request.addEventListener("load", () => {
            if (request.status < 300) {
                done();
            } else {
                refuse(new Error(messageOf(request.responseText)));
            }
        });
        request.addEventListener("error", () => refuse(new Error("The connection was lost.")));
        request.send(file);
    });
}

// To a bucket of another host the page's policy lets no script send, so the server takes the file.
async function sendByForm(file) {
    const told = new FormData(form);
    told.delete("files");
    told.append("files", file);
    const response = await fetch(form.action, { method: "POST", body: told });
    if (!response.ok) {
        throw new Error("The server did not take it.");
    }
    return { state: "added" };
}

function messageOf(text) {
    try {
        return JSON.parse(text).message;
    } catch {
        return "The server did not take it.";
    }
}

function showLine(file) {
    const row = list.appendChild(document.createElement("li"));
    const name = row.appendChild(document.createElement("span"));
    name.className = "grow";
    name.textContent = file.webkitRelativePath || file.name;
    const bar = row.appendChild(document.createElement("progress"));
    bar.className = "short";
    bar.setAttribute("aria-label", `Sending ${file.name}`);
    return { row, bar };
}

function settle(line, words, kind) {
    const badge = document.createElement("span");
    line.bar.replaceWith(badge);
    say(badge, words, kind);
}

function say(badge, words, kind) {
    badge.className = kind === "fail" ? "error small" : `badge ${kind}`;
    badge.textContent = words;
}

// A file that has been sent is added only once it could be read: "On the way" knows.
function tellArrivals() {
    for (const row of list.querySelectorAll("[data-item]")) {
        const arrival = document.querySelector(`#underway [data-arrival="${row.dataset.item}"]`);
        const state = arrival?.dataset.state;
        if (state === "failed") say(row.lastElementChild, "Failed, see On the way", "fail");
        else if (!state) say(row.lastElementChild, "Added", "ok");
    }
}

// Once for all files that arrive together: each answer replaces what the one before it showed.
function refresh() {
    clearTimeout(refreshing);
    refreshing = setTimeout(() => {
        window.htmx?.ajax("GET", area.dataset.refresh, { target: "#underway", swap: "outerHTML" });
    }, 200);
}

document.addEventListener("htmx:afterSettle", tellArrivals);

function token() {
    return form.querySelector("[name=csrfmiddlewaretoken]").value;
}
