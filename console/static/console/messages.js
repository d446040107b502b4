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

function letPlainOnesGo() {
    const plain = "#toasts .toast:not([data-leaves], .error, .warning)";
    for (const toast of document.querySelectorAll(plain)) {
        toast.dataset.leaves = "";
        if (!toast.querySelector("[data-undo]")) {
            setTimeout(() => toast.remove(), SECONDS * 1000);
        }
    }
}
