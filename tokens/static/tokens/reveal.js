"use strict";

// Copies what a button names, and sees to it that the browser does not bring the secret back.
{
    // A reload, or the way back to here, asks for the token's own page: no form is sent again.
    history.replaceState(null, "", document.querySelector("[data-token-page]").href);

    const status = document.querySelector("[data-copied]");

    const copyBySelection = (element) => {
        getSelection().selectAllChildren(element);
        return document.execCommand("copy");
    };

    // The clipboard is there only over HTTPS and on localhost.
    const copy = async (element) => {
        try {
            await navigator.clipboard.writeText(element.textContent);
            return true;
        } catch {
            return copyBySelection(element);
        }
    };

    for (const button of document.querySelectorAll("[data-copy]")) {
        button.addEventListener("click", async () => {
            const copied = await copy(document.getElementById(button.dataset.copy));
            status.textContent = copied ? "Copied." : "Not copied: select the text and copy it.";
            button.textContent = copied ? "Copied" : "Copy";
        });
    }

    // Browsers may keep a whole page in memory for the way back, whatever its headers say.
    addEventListener("pagehide", () => {
        for (const element of document.querySelectorAll("[data-secret]")) {
            element.textContent = "Shown once, and gone.";
        }
        for (const button of document.querySelectorAll("[data-copy]")) button.remove();
    });
}
