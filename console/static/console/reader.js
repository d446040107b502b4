// The reader: leads to a place of the text and marks it, and keeps a transcript and its player in
// step. A place is #char=10,90, #page=4 or #t=83, or ?at=10,90, which the server knows too.

const player = document.querySelector("[data-player]");
const article = document.querySelector("[data-reading]");
const parts = JSON.parse(document.getElementById("parts")?.textContent ?? "[]");

if (article) {
    goToPlace();
    window.addEventListener("hashchange", goToPlace);
    article.addEventListener("click", seekClicked);
}
player?.addEventListener("timeupdate", followPlayer);
document.querySelector("[data-print]")?.addEventListener("click", (event) => {
    const isWhole = parts.length < 2 || new URLSearchParams(location.search).has("whole");
    if (isWhole) {
        event.preventDefault();
        window.print();
    }
});
document.querySelector("[data-back]")?.addEventListener("click", (event) => {
    if (document.referrer.startsWith(`${location.origin}/?`) && history.length > 1) {
        event.preventDefault();
        history.back();
    }
});

function goToPlace() {
    const [, kind, value] = location.hash.match(/^#(char|page|t)=([\d.,]+)$/) ?? [];
    for (const old of article.querySelectorAll(".marked")) old.classList.remove("marked");
    globalThis.CSS?.highlights?.delete("place");
    const asked = article.querySelector("[data-mark]")?.dataset.mark;
    const marked = asked ? markSpan(asked) : null;
    if (!kind) return show(marked);
    if (!isLoaded(kind, parseFloat(value))) return loadPartOf(kind, parseFloat(value));
    if (kind === "char") return show(markSpan(value));
    if (kind === "t") return show(markSecond(value) ?? marked);
    show(marked ?? markPage(value), marked ? "center" : "start");
}

// Not smoothly: from one end of a book to the other that would take a while.
function show(place, block = "center") {
    if (!place) return;
    const box = place.getBoundingClientRect();
    if (place instanceof Range || box.height > window.innerHeight) {
        window.scrollBy({ top: box.top - window.innerHeight / 4, behavior: "instant" });
    } else {
        place.scrollIntoView({ block, behavior: "instant" });
    }
}

function markSpan(value) {
    const [start, end] = value.split(",").map(Number);
    const ranges = [];
    let first = null;
    for (const block of article.querySelectorAll("[data-c]")) {
        const [from, to] = block.dataset.c.split(",").map(Number);
        if (from >= end || to <= start) continue;
        const range = rangeIn(block, (start - from) / (to - from), (end - from) / (to - from));
        if (range) ranges.push(range);
        else if (!block.querySelector("mark")) block.classList.add("marked");
        first ??= range ?? block.querySelector("mark") ?? block;
    }
    if (ranges.length) CSS.highlights.set("place", new Highlight(...ranges));
    return first;
}

// The part of a long block between two shares of its text, from word to word; none where the
// whole block is meant, or where the browser cannot mark a part.
function rangeIn(block, from, to) {
    const length = block.textContent.length;
    if (!globalThis.CSS?.highlights || block.querySelector("mark") || length < 160) return null;
    if (from <= 0.02 && to >= 0.98) return null;
    const range = document.createRange();
    const text = block.textContent;
    const start = text.lastIndexOf(" ", Math.max(0, Math.round(from * length))) + 1;
    const after = text.indexOf(" ", Math.min(length, Math.round(to * length)));
    range.setStart(...pointAt(block, start));
    range.setEnd(...pointAt(block, after < 0 ? length : after));
    return range;
}

// For finding: whether the part that has a character is on the page.
export function showsPlace(character) {
    return isLoaded("char", character);
}

// Mark these very words where they stand: the nth within their block, as in the source.
export function markWords(words, start, places) {
    const within = [...article.querySelectorAll("[data-c]")].filter((each) => {
        const [from, to] = each.dataset.c.split(",").map(Number);
        return from <= start && start < to && !each.querySelector("[data-c]");
    });
    const block = within[0];
    if (!block) return;
    const from = Number(block.dataset.c.split(",")[0]);
    const nth = places.filter(([each]) => each >= from && each < start).length;
    const escaped = words.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = [...block.textContent.matchAll(new RegExp(escaped.join("\\s+"), "giu"))];
    const match = found[Math.min(nth, found.length - 1)];
    for (const old of article.querySelectorAll(".marked")) old.classList.remove("marked");
    if (!match || !globalThis.CSS?.highlights) {
        block.classList.add("marked");
        show(block);
        return;
    }
    const range = document.createRange();
    range.setStart(...pointAt(block, match.index));
    range.setEnd(...pointAt(block, match.index + match[0].length));
    CSS.highlights.set("place", new Highlight(range));
    show(range);
}

function pointAt(block, offset) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    let last = node;
    while (node && offset > node.length) {
        offset -= node.length;
        last = node;
        node = walker.nextNode();
    }
    return node ? [node, offset] : [last, last.length];
}

function markSecond(value) {
    const said = saidAt(parseFloat(value));
    said?.classList.add("marked");
    if (player && said) player.currentTime = parseFloat(value);
    const stamp = said?.closest(".turn").querySelector("a.stamp[target]");
    if (stamp) document.querySelector("[data-elsewhere]").href = stamp.href;
    return said;
}

function markPage(value) {
    return article.querySelector(`[data-page="${CSS.escape(value)}"]`);
}

function numberOf(kind, value) {
    const name = { char: "c", page: "page", t: "t" }[kind];
    const begun = parts.filter((part) => part[name] !== null && part[name] <= value);
    return Math.max(1, begun.length);
}

function isLoaded(kind, value) {
    return Boolean(article.querySelector(`[data-part="${numberOf(kind, value)}"]`));
}

function loadPartOf(kind, value) {
    location.replace(`?part=${numberOf(kind, value)}${location.hash}`);
}

function seekClicked(event) {
    const stamp = event.target.closest("[data-seek]");
    if (!stamp || !player) return;
    event.preventDefault();
    player.currentTime = parseFloat(stamp.dataset.seek);
    player.play();
}

// The last utterance that has begun by this second.
function saidAt(second) {
    const said = [...article.querySelectorAll("[data-t]")];
    let low = 0;
    let high = said.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (parseFloat(said[middle].dataset.t) <= second) low = middle + 1;
        else high = middle;
    }
    return said[Math.max(0, low - 1)];
}

function followPlayer() {
    const now = saidAt(player.currentTime);
    const before = article.querySelector(".now");
    if (now === before) return;
    before?.classList.remove("now");
    now?.classList.add("now");
    if (!player.paused) now?.scrollIntoView({ block: "nearest", behavior: "smooth" });
}
