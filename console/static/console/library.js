// The library's list: ticks, what acts on them, and the focus after the list has changed.

let place = 0;

document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tick-all]")) {
        for (const box of boxes()) box.checked = event.target.checked;
    }
    count();
});

// A key that acts on ticked items takes the line that has the focus, if none is ticked.
document.addEventListener("keydown", (event) => {
    const line = event.target.closest?.("[data-line]");
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!document.querySelector(`[data-acts][data-key="${CSS.escape(event.key)}"]`)) return;
    if (!boxes().some((box) => box.checked)) line.querySelector("input[name=item]").checked = true;
    count();
}, true);

// Within a small form, Enter presses its own button.
document.addEventListener("keydown", (event) => {
    const form = event.target.closest?.("#bulk [popover]");
    if (event.key !== "Enter" || !form || !event.target.matches("input")) return;
    event.preventDefault();
    form.querySelector("button[type=submit]").click();
});

document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id !== "bulk") return;
    place = lines().findIndex((line) => line.querySelector("input[name=item]:checked"));
});

document.addEventListener("htmx:afterSwap", (event) => {
    count();
    if (event.detail.requestConfig?.elt.id !== "bulk") return;
    const left = lines();
    left[Math.min(Math.max(place, 0), left.length - 1)]?.querySelector("[data-open]").focus();
});

function boxes() {
    return [...document.querySelectorAll("#bulk input[name=item]")];
}

function lines() {
    return [...document.querySelectorAll("#bulk [data-line]")];
}

function count() {
    const ticked = boxes().filter((box) => box.checked).length;
    const told = document.querySelector("[data-tick-count]");
    if (told) told.textContent = `${ticked} selected`;
}
