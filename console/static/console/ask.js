// An answer as it comes: the form is sent by a script, and the server answers with events. Each draft
// is the answer so far, whose every sentence stands on a passage; the last event has all of it.

import { showMessage } from "./messages.js";

const ask = document.getElementById("ask");

ask?.addEventListener("submit", async (event) => {
    const form = event.target.closest("[data-ask]");
    if (!form) return;
    event.preventDefault();
    const body = new FormData(form);
    form.querySelector("button").disabled = true;
    form.querySelector("[data-wait]").textContent = "Reading the passages…";
    ask.querySelector("[data-answer]").replaceChildren();
    try {
        await send(form, body);
    } catch {
        showMessage("The answer did not come. Check the connection and ask again.");
        form.querySelector("button").disabled = false;
        form.querySelector("[data-wait]").textContent = "";
    }
});

async function send(form, body) {
    const headers = { Accept: "text/event-stream" };
    const response = await fetch(form.action, { method: "POST", body, headers });
    const kind = response.headers.get("Content-Type") ?? "";
    if (response.redirected) return location.reload(); // signed out meanwhile
    if (!kind.startsWith("text/event-stream")) {
        if (response.status >= 500 && !kind.startsWith("text/html")) throw new Error();
        return show(await response.text());
    }
    let isDone = false;
    for await (const { name, data } of eventsOf(response.body)) {
        if (name === "done") isDone = true;
        if (name === "done") show(data);
        else ask.querySelector("[data-answer]").innerHTML = data;
    }
    if (!isDone) throw new Error();
}

function show(html) {
    ask.innerHTML = html;
    ask.querySelector(".answer h2")?.scrollIntoView({ block: "nearest" });
}

async function* eventsOf(stream) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text += value;
        const events = text.split("\n\n");
        text = events.pop();
        for (const each of events) {
            const [, name, data] = each.match(/^event: (\w+)\ndata: (.*)$/s) ?? [];
            if (name) yield { name, data: JSON.parse(data) };
        }
    }
}
