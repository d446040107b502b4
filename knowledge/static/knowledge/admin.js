// Names for controls that the admin's frame shows without one, and keys for what it opens by click.
document.addEventListener("DOMContentLoaded", () => {
    const name = (selector, text) => {
        for (const element of document.querySelectorAll(selector)) {
            if (!element.labels?.length && !element.getAttribute("aria-label")) {
                element.setAttribute("aria-label", text);
            }
        }
    };
    name("#searchbar", "Search this list");
    name("#searchbar-submit, #command-submit", "Search");
    name("#search-input-command", "Search pages");

    // Boxes with many choices make their search field only when their own script has run.
    const nameChoices = () => {
        for (const field of document.querySelectorAll("input.select2-search__field:not([aria-label])")) {
            const select = field.closest(".select2-container")?.previousElementSibling;
            field.setAttribute("aria-label", select?.labels?.[0]?.textContent.trim() || "Choose");
        }
    };
    nameChoices();
    new MutationObserver(nameChoices).observe(document.body, { childList: true, subtree: true });
});
