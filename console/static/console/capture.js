// The window that a bookmarklet opens: it says that it listens, takes the page, and shows its size.
// Whatever comes is only filled in; the person adds it by the button.

const form = document.querySelector("[data-capture]");
const MOST = 5_000_000;

if (form && window.opener) {
    window.addEventListener("message", (event) => {
        const page = event.data;
        if (event.source !== window.opener || page?.quarry !== 1 || typeof page.html !== "string") {
            return;
        }
        if (page.url !== form.elements.url.value) {
            return;
        }
        const bytes = new Blob([page.html]).size;
        const size = Math.ceil(bytes / 1000).toLocaleString();
        const told = form.querySelector("[data-captured]");
        if (bytes > MOST) {
            told.textContent = `The page is too large to be sent (${size} kB); its link will be fetched.`;
            return;
        }
        form.elements.html.value = page.html;
        told.textContent = `The page as you see it now will be added (${size} kB).`;
    });
    window.opener.postMessage("quarry:ready", "*");
}
document.querySelector("[data-close]")?.addEventListener("click", () => window.close());
