// The list of runs, of which only the visible rows exist, and the timeline of a session.

import { clock, counted, day, duration, el, elapsed, getJson, problem, queryOf, runState, svg, title } from "./dom.js";

const ROW_PIXELS = 28;
const CHUNK = 100;
const EXTRA_ROWS = 10;
const TIMELINE_RUNS = 2000;
const FILTERS = ["q", "state", "session", "agent", "hours"];

/** The runs of a list by position, latest first. Positions that were not loaded are holes. */
class Runs {
  constructor(query) {
    this.query = query;
    this.rows = [];
    this.ids = new Set();
    this.pending = new Set();
  }

  get total() {
    return this.rows.length;
  }

  async load(from) {
    const chunk = Math.floor(from / CHUNK) * CHUNK;
    if (this.pending.has(chunk)) return;
    this.pending.add(chunk);
    try {
      const newest = this.rows[0];
      const until = chunk > 0 ? newest?.time : undefined;
      const query = queryOf({ ...this.query, offset: chunk, count: CHUNK, until });
      const { runs, total } = await getJson(`/api/runs${query}`);
      if (this.total < total) this.rows.length = total;
      // Rows may have been added in front meanwhile.
      const at = chunk + Math.max(0, newest ? this.rows.indexOf(newest) : 0);
      runs.forEach((run, index) => {
        if (this.ids.has(run.id)) return this.replace(run);
        if (!this.rows[at + index]) {
          this.rows[at + index] = run;
          this.ids.add(run.id);
        }
      });
    } finally {
      this.pending.delete(chunk);
    }
  }

  replace(run) {
    const index = this.rows.findIndex((row) => row?.id === run.id);
    if (index < 0) return;
    if (this.query.state === "running" && run.state !== "running") {
      this.rows.splice(index, 1);
      this.ids.delete(run.id);
    } else this.rows[index] = run;
  }

  /** Adds or updates a run. Returns whether it is new. */
  change(run) {
    if (this.ids.has(run.id)) {
      this.replace(run);
      return false;
    }
    if (this.query.state === "running" && run.state !== "running") return false;
    let index = 0;
    while (this.rows[index] && this.rows[index].time > run.time) index++;
    if (index > 0 && index >= CHUNK) return false;
    this.rows.splice(index, 0, run);
    this.ids.add(run.id);
    return true;
  }
}

function rowOf(run, index, isSelected) {
  const attributes = {
    class: isSelected ? "row selected" : "row",
    role: "row",
    id: `row-${index}`,
    "aria-rowindex": index + 1,
    "aria-selected": isSelected,
  };
  if (!run) return el("div", attributes, el("span", { class: "muted", role: "cell" }, "…"));
  const state = runState(run);
  const cell = (name, text, hint) => el("span", { class: name, role: "cell", title: hint }, text);
  const filter = (name, value) => el("a", { href: `/${queryOf({ [name]: value })}`, tabindex: -1 }, value);
  return el(
    "div",
    { ...attributes, "data-id": run.id },
    cell(`state ${state.name}`, `${state.sign} ${state.text}`),
    cell("time", clock(run.time), `${day(run.time)} ${clock(run.time)}`),
    cell("duration", duration(elapsed(run))),
    el("span", { class: "agent", role: "cell" }, run.agent ? filter("agent", run.agent) : "-"),
    el("span", { class: "session", role: "cell" }, filter("session", run.session)),
    el("a", { class: "text", role: "cell", href: `/run/${encodeURIComponent(run.id)}`, tabindex: -1 }, title(run.text) || run.kind),
  );
}

class ListView {
  constructor(page) {
    this.page = page;
    const given = new URLSearchParams(location.search);
    this.query = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
    this.runs = new Runs(this.query);
    this.selected = 0;
    this.drawing = false;
  }

  build() {
    this.count = el("span", { class: "muted", role: "status" });
    this.rows = el("div", { class: "rows" });
    this.scroller = el(
      "div",
      { class: "scroller", role: "table", tabindex: 0, "aria-label": "Runs, latest first", onscroll: () => this.draw() },
      this.rows,
    );
    this.timeline = el("section", { class: "timeline", hidden: true, "aria-label": "Timeline of the session" });
    this.errors = el("div");
    this.page.main.replaceChildren(this.filters(), this.errors, this.timeline, this.scroller);
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.scroller);
    this.clock = setInterval(() => this.draw(), 1000);
  }

  filters() {
    const input = (name, label, placeholder) =>
      el("input", {
        name, placeholder, "aria-label": label, value: this.query[name], autocomplete: "off", spellcheck: "false",
        onchange: () => this.apply(),
      });
    const option = (name, value, text) => el("option", { value, selected: this.query[name] === value }, text);
    const select = (name, label, options) =>
      el("select", { name, "aria-label": label, onchange: () => this.apply() }, options.map(([value, text]) => option(name, value, text)));
    this.form = el(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); this.apply(); } },
      input("q", "Search scripts and command lines (regular expression)", "search: regular expression"),
      select("state", "State", [["", "all states"], ["running", "running"], ["failed", "failed"]]),
      select("hours", "Time", [["", "any time"], ["1", "last hour"], ["24", "last day"], ["168", "last week"]]),
      input("session", "Session", "session"),
      input("agent", "Agent", "agent"),
      this.count,
    );
    return this.form;
  }

  apply() {
    const data = new FormData(this.form);
    const query = Object.fromEntries(FILTERS.map((name) => [name, (data.get(name) ?? "").trim()]));
    if (queryOf(query) === queryOf(this.query)) return;
    this.page.go(`/${queryOf(query)}`);
  }

  async start() {
    this.build();
    await this.reload();
    if (!this.failed) {
      this.page.subscribe(queryOf(this.query), {
        runs: (runs) => this.changed(runs),
        reset: () => this.reload(),
      });
    }
    this.scroller.focus({ preventScroll: true });
  }

  async reload() {
    try {
      const runs = new Runs(this.query);
      await runs.load(0);
      this.runs = runs;
      this.errors.replaceChildren();
    } catch (error) {
      this.failed = true;
      this.errors.replaceChildren(problem(error));
    }
    this.draw();
    this.drawTimeline();
  }

  changed(runs) {
    const first = this.runs.rows[this.selected]?.id;
    let added = 0;
    for (const run of runs) added += this.runs.change(run) ? 1 : 0;
    // The rows that a person looks at stay in place.
    const isAtTop = this.scroller.scrollTop < ROW_PIXELS;
    if (!isAtTop) this.scroller.scrollTop += added * ROW_PIXELS;
    if (!isAtTop && first) this.selected += added;
    this.draw();
    this.drawTimeline();
  }

  draw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { total, rows } = this.runs;
    this.rows.style.height = `${total * ROW_PIXELS}px`;
    this.count.textContent = counted(total, "run");
    const top = Math.floor(this.scroller.scrollTop / ROW_PIXELS);
    const first = Math.max(0, top - EXTRA_ROWS);
    const last = Math.min(total, top + Math.ceil(this.scroller.clientHeight / ROW_PIXELS) + EXTRA_ROWS);
    const shown = [];
    for (let index = first; index < last; index++) {
      if (!rows[index]) this.fill(index);
      const row = rowOf(rows[index], index, index === this.selected);
      row.style.transform = `translateY(${index * ROW_PIXELS}px)`;
      shown.push(row);
    }
    this.scroller.setAttribute("aria-rowcount", total);
    this.scroller.setAttribute("aria-activedescendant", `row-${this.selected}`);
    this.rows.replaceChildren(...shown);
    if (total === 0 && !this.failed) this.rows.replaceChildren(el("p", { class: "muted empty" }, "No runs match."));
  }

  async fill(index) {
    const runs = this.runs;
    if (runs.pending.has(Math.floor(index / CHUNK) * CHUNK)) return;
    try {
      await runs.load(index);
      this.draw();
    } catch (error) {
      this.errors.replaceChildren(problem(error));
    }
  }

  select(index) {
    const { total } = this.runs;
    this.selected = Math.max(0, Math.min(total - 1, index));
    const top = this.selected * ROW_PIXELS;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + ROW_PIXELS > scrollTop + clientHeight) this.scroller.scrollTop = top + ROW_PIXELS - clientHeight;
    this.draw();
  }

  key(event) {
    const jump = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PIXELS) - 1);
    const moves = {
      j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: jump, PageUp: -jump,
      g: -Infinity, Home: -Infinity, G: Infinity, End: Infinity,
    };
    if (event.key === "/") this.form.elements.q.focus();
    else if (event.key in moves && !event.target.closest("a, button, svg")) this.select(this.selected + moves[event.key]);
    else if (event.key === "Enter" && event.target === this.scroller) {
      const run = this.runs.rows[this.selected];
      if (run) this.page.go(`/run/${encodeURIComponent(run.id)}`);
    } else return false;
    return true;
  }

  drawTimeline() {
    if (!this.query.session || this.timelineTimer) return;
    // At most once in a while, because a busy session changes all the time.
    this.timelineTimer = setTimeout(async () => {
      try {
        const { runs } = await getJson(`/api/runs${queryOf({ ...this.query, count: TIMELINE_RUNS })}`);
        if (runs.length > 0) drawTimeline(this.timeline, runs);
      } catch (error) {
        this.errors.replaceChildren(problem(error));
      }
      this.timelineTimer = null;
    }, this.timeline.hidden ? 0 : 500);
  }

  close() {
    clearInterval(this.clock);
    clearTimeout(this.timelineTimer);
    this.resized.disconnect();
  }
}

/** Draws runs as bars by time, in as few lines as possible without overlap. */
function drawTimeline(section, runs) {
  section.hidden = false;
  const width = Math.max(300, section.clientWidth - 2);
  const end = (run) => run.time + elapsed(run) * 1000;
  const ordered = [...runs].sort((one, other) => one.time - other.time);
  const from = ordered[0].time;
  const until = Math.max(from + 1, ...ordered.map(end));
  const x = (time) => ((time - from) / (until - from)) * (width - 8) + 4;
  const lanes = [];
  const bars = ordered.map((run) => {
    const left = x(run.time);
    const length = Math.max(3, x(end(run)) - left);
    let lane = lanes.findIndex((free) => free <= left);
    if (lane < 0) lane = lanes.length < 12 ? lanes.push(0) - 1 : 11;
    lanes[lane] = left + length + 1;
    const state = runState(run);
    const mark = state.name === "failed" || state.name === "lost";
    const y = 18 + lane * 14;
    return svg(
      "a",
      { href: `/run/${encodeURIComponent(run.id)}` },
      svg("title", {}, `${clock(run.time)} ${state.text} ${duration(elapsed(run))} ${title(run.text)}`),
      svg("rect", { class: `bar ${state.name}`, x: left, y, width: length, height: 10, rx: 2 }),
      mark ? svg("text", { class: "mark", x: left + length / 2, y: y - 1, "text-anchor": "middle" }, "✕") : null,
    );
  });
  const height = 18 + Math.max(1, lanes.length) * 14 + 16;
  const label = (time, anchor) => svg("text", { x: x(time), y: height - 3, "text-anchor": anchor }, clock(time));
  const failed = runs.filter((run) => ["failed", "lost"].includes(runState(run).name)).length;
  const summary = `${counted(runs.length, "run")} in ${duration((until - from) / 1000)}, ${failed} failed (✕)`;
  section.replaceChildren(
    el("p", { class: "muted" }, summary),
    svg("svg", { width, height, role: "group", "aria-label": summary }, bars, label(from, "start"), label(until, "end")),
  );
}

export async function showList(page) {
  document.title = "haft: runs";
  const view = new ListView(page);
  await view.start();
  return view;
}
