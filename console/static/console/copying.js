// Buttons that copy what they name; a secret is gone from the page once it is left.

import { showMessage } from "./messages.js";

const page = document.querySelector("[data-token-page]");
// A reload, or the way back to here, asks for the token's own page: no form is sent again.
if (page) history.replaceState(null, "", page.href);

document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const copied = await copy(document.getElementById(button.dataset.copy));
    if (copied) button.textContent = "Copied";
    else showMessage("Not copied: select the text and copy it.");
});

// The clipboard is there only over HTTPS and on localhost.
async function copy(element) {
    try {
        await navigator.clipboard.writeText(element.textContent);
        return true;
    } catch {
        getSelection().selectAllChildren(element);
        return document.execCommand("copy");
    }
}

// Browsers may keep a whole page in memory for the way back, whatever its headers say.
addEventListener("pagehide", () => {
    for (const element of document.querySelectorAll("[data-secret]")) {
        element.textContent = "Shown once, and gone.";
    }
});
