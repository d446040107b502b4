// The keyboard: `/` searches, `g` and a letter go to a page, arrows or j and k walk a list.
//
// A list is [data-list]; its lines are [data-line], each with one link [data-open]. A page gives
// an element a key by data-key="e": it is clicked, unless the person is typing.

const LIST = "[data-list]";
let awaitsPage = false;

export function startKeys() {
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select");
        if (walk(event, isTyping) || isTyping) return;
        if (document.querySelector("dialog[open], [popover]:popover-open")) return;
        if (goOrPress(event)) event.preventDefault();
    });
}

function goOrPress(event) {
    if (awaitsPage) {
        awaitsPage = false;
        return click(`[data-go="${CSS.escape(event.key)}"]`);
    }
    if (event.key === "g") return (awaitsPage = true);
    if (event.key === "/") return focus("[data-search]");
    if (event.key === "?") return showKeys();
    if (event.key === "z") return click("#toasts [data-undo]");
    if (event.key === "x") return click("[data-line]:focus-within input[type=checkbox]");
    return click(`[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
}

function walk(event, isTyping) {
    const down = event.key === "ArrowDown" || (!isTyping && event.key === "j");
    const up = event.key === "ArrowUp" || (!isTyping && event.key === "k");
    const inSearch = event.target.matches("[data-search]");
    if (isTyping && !inSearch) return false;
    if (inSearch && event.key === "Escape") return event.target.blur();
    if (!down && !up) return false;
    const inList = event.target.closest(LIST) || inSearch || event.target === document.body;
    if (!inList && event.key.startsWith("Arrow")) return false;
    const links = [...document.querySelectorAll(`${LIST} [data-open]`)];
    if (!links.length) return false;
    const line = event.target.closest("[data-line]");
    const at = line ? links.indexOf(line.querySelector("[data-open]")) : -1;
    const next = at + (down ? 1 : -1);
    if (next < 0) {
        if (at === 0) focus("[data-search]");
    } else {
        links[Math.min(next, links.length - 1)].focus();
    }
    event.preventDefault();
    return true;
}

function click(selector) {
    const found = document.querySelector(selector);
    found?.click();
    return Boolean(found);
}

function focus(selector) {
    const found = document.querySelector(selector);
    found?.focus();
    found?.select?.();
    return Boolean(found);
}

function showKeys() {
    document.getElementById("keys").showModal();
    return true;
}
