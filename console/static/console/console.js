// What every page of the console has: keys, messages that go away, and words for a lost connection.

import { startKeys } from "./keys.js";
import { showMessage, showProblem, startMessages } from "./messages.js";

document.documentElement.classList.add("js");
startKeys();
startMessages();

document.addEventListener("problem", showProblem);
document.addEventListener("htmx:responseError", () => {
    showMessage("Something went wrong on the server. Try again.");
});
document.addEventListener("htmx:sendError", () => {
    showMessage("The server cannot be reached. Check the connection and try again.");
});
