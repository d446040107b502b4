// Find in the open text: Enter and Shift+Enter, or the two buttons, step through the places. A place
// in a part that is not loaded yet is loaded by the server, which marks it too. It starts the reader.

import { markWords, showsPlace } from "./reader.js";

const input = document.getElementById("find");
let at = -1;

if (input) {
    input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        if (foundWords() !== input.value.trim()) return; // the form asks for them first
        event.preventDefault();
        step(event.shiftKey ? -1 : 1);
    });
    document.addEventListener("click", (event) => {
        const button = event.target.closest("#occurrences [data-step]");
        if (button && step(Number(button.dataset.step))) event.preventDefault();
    });
    document.addEventListener("htmx:afterSwap", (event) => {
        if (event.target.id === "occurrences") at = -1;
    });
    goOnAfterLoading();
}

function foundWords() {
    return document.getElementById("occurrences")?.dataset.found.trim();
}

function places() {
    return JSON.parse(document.getElementById("found-places")?.textContent ?? "[]");
}

// Whether it could go there; if not, a link still can.
function step(by) {
    const all = places();
    if (!all.length) return false;
    at = at < 0 && by < 0 ? all.length - 1 : (at + by + all.length) % all.length;
    const [start, end] = all[at];
    const query = new URLSearchParams({ at: `${start},${end}`, find: foundWords() });
    const address = `?${query}#char=${start},${end}`;
    if (!showsPlace(start)) {
        location.assign(address);
        return true;
    }
    history.replaceState(null, "", address);
    document.querySelector("#occurrences details").open = false;
    document.querySelector("[data-count]").textContent = `${at + 1} of ${countOf(all)}`;
    markWords(foundWords(), start, all);
    return true;
}

function countOf(all) {
    const said = document.querySelector("[data-count]").textContent;
    return said.toLowerCase().includes("the first") ? `the first ${all.length}` : all.length;
}

// A step led to another part: the next one goes on from there.
function goOnAfterLoading() {
    const asked = new URLSearchParams(location.search);
    if (!asked.get("find") || !asked.get("at")) return;
    const all = places();
    at = all.findIndex(([start, end]) => asked.get("at") === `${start},${end}`);
    if (at < 0) return;
    input.focus({ preventScroll: true });
    markWords(foundWords(), all[at][0], all);
}
