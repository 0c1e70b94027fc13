// Addresses, events and keys of the page.

import { showList } from "./list.js";
import { showRun } from "./run.js";
import { showOverlay, showOverlays, showStatistics } from "./overlays.js";
import { problem } from "./dom.js";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
const help = document.getElementById("help");

let current = null;
let source = null;
let subscription = null;

/** What a view can do with the rest of the page. */
const page = {
  main,
  go: (address, replace) => {
    history[replace ? "replaceState" : "pushState"](null, "", address);
    if (!replace) show();
  },
  /** Subscribes to events. The handlers belong to the view that is shown now. */
  subscribe(query, handlers) {
    subscription = { query, handlers };
    connect();
  },
};

function connect() {
  source?.close();
  source = null;
  if (!subscription || document.hidden) return;
  const { query, handlers } = subscription;
  source = new EventSource(`/api/events${query}`);
  let wasReady = false;
  source.addEventListener("ready", () => {
    connection.textContent = "live";
    connection.className = "live";
    // Changes between the request for the data and this event, or while the connection was broken.
    handlers.reset?.(wasReady);
    wasReady = true;
  });
  source.addEventListener("error", () => {
    connection.textContent = "not connected";
    connection.className = "broken";
  });
  for (const [name, handler] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
}

document.addEventListener("visibilitychange", connect);

function view(path) {
  const [, first, second] = path.split("/").map(decodeURIComponent);
  if (first === "run" && second) return showRun(page, second);
  if (first === "overlays") return second ? showOverlay(page, second) : showOverlays(page);
  if (first === "stats") return showStatistics(page);
  return showList(page);
}

async function show() {
  current?.close?.();
  source?.close();
  source = subscription = current = null;
  connection.textContent = "";
  main.replaceChildren();
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.getAttribute("href") === location.pathname + location.search;
    link.toggleAttribute("aria-current", here);
  }
  try {
    current = await view(location.pathname);
  } catch (error) {
    main.replaceChildren(problem(error));
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='/']");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
  if (!link || !plain || link.hasAttribute("download")) return;
  event.preventDefault();
  page.go(link.getAttribute("href"));
});
addEventListener("popstate", show);

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey || help.open) return;
  if (event.key === "?") help.showModal();
  else if (event.key === "u") page.go("/");
  else if (!current?.key?.(event)) return;
  event.preventDefault();
});

document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("help-close").addEventListener("click", () => help.close());

const theme = document.getElementById("theme");
const themes = ["auto", "light", "dark"];
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = `Theme: ${name}`;
  try {
    localStorage.setItem("haft-theme", name);
  } catch {
    // The browser keeps nothing.
  }
}
theme.addEventListener("click", () => {
  setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
});
let stored = null;
try {
  stored = localStorage.getItem("haft-theme");
} catch {
  // The browser keeps nothing.
}
setTheme(themes.includes(stored) ? stored : "auto");

show();
