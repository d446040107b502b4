// Highlights, notes and progress in the reader. A passage is what is selected or, with nothing
// selected, the paragraph at the top of the window, so that `h` and `n` work without a mouse.

const COLOURS = ["yellow", "green", "blue", "pink"];
const section = document.getElementById("marks");
const article = document.querySelector("[data-reading]");

if (section && article) {
    const tools = section.querySelector("[data-mark-tools]");
    const dialog = document.getElementById("note-dialog");
    document.body.append(tools, dialog);
    tools.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the selection
    tools.addEventListener("click", (event) => pressed(event.target.closest("button"), dialog));
    document.addEventListener("selectionchange", () => {
        tools.classList.toggle("shown", Boolean(selectedRange()));
    });
    document.addEventListener("htmx:afterSwap", paint);
    paint();
    followProgress();
}

function pressed(button, dialog) {
    const passage = currentPassage();
    if (!button || !passage) return;
    if (button.dataset.colour) return send({ ...passage, colour: button.dataset.colour });
    dialog.querySelector("[data-quoted]").textContent = passage.quote;
    dialog.onclose = () => {
        const words = dialog.querySelector("textarea");
        if (dialog.returnValue === "save") send({ ...passage, note: words.value });
        words.value = "";
    };
    dialog.returnValue = "";
    dialog.showModal();
}

function send(values) {
    window.htmx.ajax("POST", section.dataset.marks, { target: "#marks-list", values });
    getSelection().removeAllRanges();
}

// What is meant -------------------------------------------------------------------------------

function currentPassage() {
    const range = selectedRange();
    const block = range ? blockOf(range.startContainer) : firstInView();
    const quote = range ? range.toString() : (block?.textContent ?? "");
    if (!quote.trim()) return null;
    return { quote: quote.trim().slice(0, 5000), near: block ? startOf(block) : 0 };
}

function selectedRange() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    return article.contains(range.commonAncestorContainer) ? range : null;
}

function blockOf(node) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    return element.closest("[data-c]");
}

function firstInView() {
    const blocks = [...article.querySelectorAll("[data-c]")];
    return article.querySelector(".marked[data-c]") ?? blocks.find(isInView);
}

function isInView(block) {
    const box = block.getBoundingClientRect();
    return box.bottom > 80 && box.top < window.innerHeight;
}

function startOf(block) {
    return Number(block.dataset.c.split(",")[0]);
}

function endOf(block) {
    return Number(block.dataset.c.split(",")[1]);
}

// Painting ------------------------------------------------------------------------------------

// By the browser's own highlights, which leave the text as it is; without them the list is enough.
function paint() {
    if (!globalThis.CSS?.highlights) return;
    const ranges = Object.fromEntries(COLOURS.map((colour) => [colour, []]));
    for (const line of document.querySelectorAll("#marks-list [data-span]")) {
        const [start, end] = line.dataset.span.split(",").map(Number);
        const range = rangeOf(line.querySelector("[data-words]").textContent, start, end);
        if (range) ranges[line.dataset.colour].push(range);
    }
    for (const [colour, found] of Object.entries(ranges)) {
        CSS.highlights.set(`mark-${colour}`, new Highlight(...found));
    }
}

// The words of a passage within the blocks that it stands in; long ones by their first words.
function rangeOf(quote, start, end) {
    const blocks = [...article.querySelectorAll("[data-c]")].filter(
        (block) => startOf(block) < end && endOf(block) > start && !block.querySelector("[data-c]"),
    );
    const words = quote.replace(/…$/, "").match(/[\p{L}\p{N}]+/gu);
    if (!blocks.length || !words) return null;
    const nodes = blocks.flatMap(textNodes);
    const text = nodes.map((node) => node.data).join(" ");
    const found = text.match(new RegExp(words.join("[^\\p{L}\\p{N}]+") + "[^\\p{L}\\p{N}\\s]*", "u"));
    if (!found) return null;
    const range = document.createRange();
    range.setStart(...pointAt(nodes, found.index));
    range.setEnd(...pointAt(nodes, found.index + found[0].length));
    return range;
}

function textNodes(block) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    return nodes;
}

function pointAt(nodes, offset) {
    for (const node of nodes) {
        if (offset <= node.length) return [node, offset];
        offset -= node.length + 1;
    }
    const last = nodes.at(-1);
    return [last, last.length];
}

// How far one is ------------------------------------------------------------------------------

function followProgress() {
    let sent = null;
    let timer = 0;
    const save = () => {
        const share = shareRead();
        if (share === null || share === sent) return;
        sent = share;
        const body = new URLSearchParams({ share });
        const headers = JSON.parse(document.body.getAttribute("hx-headers"));
        fetch(section.dataset.progress, { method: "POST", body, headers, keepalive: true });
    };
    addEventListener("scroll", () => {
        clearTimeout(timer);
        timer = setTimeout(save, 1500);
    });
    addEventListener("pagehide", () => timer && save());
}

// The end of the last block that has come into view, as a share of the whole text.
function shareRead() {
    const length = Number(section.dataset.length);
    const seen = [...article.querySelectorAll("[data-c]")].filter(
        (block) => block.getBoundingClientRect().top < window.innerHeight,
    );
    if (!length || !seen.length) return null;
    return Math.min(1, endOf(seen.at(-1)) / length).toFixed(3);
}
