// Changes in overlays, and statistics.

import { button, bytes, clock, counted, day, duration, el, getJson, post, problem } from "./dom.js";

const LETTERS = { added: "A", modified: "M", attributes: "T", deleted: "D", renamed: "R" };
const ASK_AGAIN_MS = 4000;

/** A button that asks once more before it acts. */
function careful(text, action, attributes) {
  let timer = null;
  const made = button(text, () => {
    if (timer) {
      clearTimeout(timer);
      timer = null;
      made.textContent = text;
      action();
      return;
    }
    made.textContent = `${text}: press again`;
    timer = setTimeout(() => {
      timer = null;
      made.textContent = text;
    }, ASK_AGAIN_MS);
  }, attributes);
  return made;
}

function diffLines(text) {
  return text.split("\n").map((line) => {
    const kind = /^(\+\+\+|---|diff |index )/.test(line) ? "diff-file" : line.startsWith("@@") ? "diff-place"
      : line.startsWith("+") ? "diff-added" : line.startsWith("-") ? "diff-removed" : undefined;
    return el("span", { class: kind }, `${line}\n`);
  });
}

/** The changes of an overlay with buttons. */
export function overlaySection(id, recorded) {
  const body = el("div");
  const section = el("section", { class: "overlay", "aria-label": "Changes" }, el("h2", {}, "Changes"), body);
  const act = async (action) => {
    try {
      await post(`/api/overlays/${encodeURIComponent(id)}/${action}`);
      await load();
    } catch (error) {
      body.append(problem(error));
    }
  };
  const load = async () => {
    try {
      const shown = await getJson(`/api/overlays/${encodeURIComponent(id)}`);
      const { overlay, changes, count, diff, is_cut } = shown;
      const letter = (change) => el("li", {}, el("b", {}, LETTERS[change.kind] ?? "?"), ` ${change.path}`);
      const isOpen = overlay.state === "open";
      body.replaceChildren(
        el("p", { class: "muted" }, `overlay ${overlay.name ?? overlay.id}, ${overlay.state}, ${counted(count, "changed path")}, ${bytes(overlay.bytes)}, of ${overlay.trees.join(", ")}`),
        el("p", {},
          isOpen && count > 0 ? careful("Commit", () => act("commit"), { id: "commit" }) : null, " ",
          careful("Discard", () => act("discard"), { id: "discard", class: "danger" }), " ",
          overlay.commits > 0 ? careful("Undo the last commit", () => act("undo"), { id: "undo" }) : null),
        el("ul", { class: "changes" }, changes.map(letter)),
        changes.length < count ? el("p", { class: "muted" }, counted(count - changes.length, "more path")) : "",
        el("pre", { class: "diff", tabindex: 0, "aria-label": "Diff" }, diffLines(diff)),
        is_cut ? el("p", { class: "muted" }, "The diff is longer; 'haft changes show --diff' shows all of it.") : "",
      );
    } catch (error) {
      const paths = recorded ? el("ul", { class: "changes" }, recorded.paths.map((path) => el("li", {}, path))) : "";
      const gone = error.status === 404 ? el("p", { class: "muted" }, `Overlay ${id} no longer exists.`) : problem(error);
      body.replaceChildren(gone, paths);
    }
  };
  load();
  return section;
}

export async function showOverlays(page) {
  document.title = "haft: changes";
  const overlays = await getJson("/api/overlays");
  const row = (overlay) => {
    const time = overlay.created * 1000;
    const cells = [`${day(time)} ${clock(time)}`, overlay.state, bytes(overlay.bytes), overlay.trees.join(" ")];
    const link = el("a", { href: `/overlays/${encodeURIComponent(overlay.id)}` }, overlay.name ?? overlay.id);
    return el("tr", {}, el("td", {}, link), cells.map((text) => el("td", {}, text)));
  };
  const heads = ["overlay", "created", "state", "size", "directories"];
  page.main.replaceChildren(
    el("h1", {}, "Changes"),
    overlays.length === 0
      ? el("p", { class: "muted" }, "No overlays; 'haft run --overlay' makes one.")
      : el("table", {}, el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, overlays.reverse().map(row))),
  );
  return {};
}

export async function showOverlay(page, id) {
  document.title = `haft: changes of ${id}`;
  page.main.replaceChildren(overlaySection(id));
  return {};
}

export async function showStatistics(page) {
  document.title = "haft: statistics";
  const offset = -new Date().getTimezoneOffset();
  const { total, days, agents, programs } = await getJson(`/api/stats?offset=${offset}`);
  const heads = ["", "count", "failed", "time", "CPU", "output"];
  const row = (sums) => el("tr", {}, el("th", { scope: "row" }, sums.name),
    [sums.count, sums.failed, duration(sums.time), duration(sums.cpu), bytes(sums.bytes)].map((text) => el("td", { class: "number" }, String(text))));
  const table = (name, rows) => rows.length === 0 ? "" : el("section", {}, el("h2", {}, name),
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows.slice(0, 50).map(row))));
  page.main.replaceChildren(el("h1", {}, "Statistics"), table("All", [total]), table("Days", [...days].reverse()), table("Agents", agents), table("Programs", programs));
  return {};
}
