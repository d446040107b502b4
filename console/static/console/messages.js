// Messages at the foot of the page. What offers an undo stays; plain news leaves by itself.

const SECONDS = 6;

export function startMessages() {
    document.addEventListener("click", (event) => {
        event.target.closest("[data-dismiss]")?.closest(".toast").remove();
    });
    new MutationObserver(letPlainOnesGo).observe(document.body, { childList: true, subtree: true });
    letPlainOnesGo();
}

export function showMessage(sentence) {
    const list = document.createElement("ul");
    list.className = "messages";
    const line = list.appendChild(document.createElement("li"));
    line.className = "toast error";
    line.appendChild(document.createElement("span")).textContent = sentence;
    document.getElementById("toasts").replaceChildren(list);
}

// What the server refuses is said at the field that it is about, if the form in use has that one.
export function showProblem(event) {
    const { field, sentence } = event.detail;
    const form = event.target.closest?.("form");
    const inputs = field ? [...(form?.querySelectorAll(`[name="${CSS.escape(field)}"]`) ?? [])] : [];
    const input = inputs.find((each) => each.checkVisibility?.() && each.type !== "hidden");
    const box = input?.closest(".field");
    if (!box) return;
    box.querySelector("[data-problem]")?.remove();
    const line = box.appendChild(document.createElement("p"));
    line.className = "error";
    line.setAttribute("role", "alert");
    line.dataset.problem = "";
    line.textContent = sentence;
    input.setAttribute("aria-invalid", "true");
    input.focus();
    document.getElementById("toasts").replaceChildren();
}

function letPlainOnesGo() {
    const plain = "#toasts .toast:not([data-leaves], .error, .warning)";
    for (const toast of document.querySelectorAll(plain)) {
        toast.dataset.leaves = "";
        if (!toast.querySelector("[data-undo]")) {
            setTimeout(() => toast.remove(), SECONDS * 1000);
        }
    }
}
