// The page of one run: state, resources, pipeline, output, changes.

import { button, bytes, clock, counted, day, duration, el, elapsed, getJson, post, problem, queryOf, runState, svg, title } from "./dom.js";
import { TerminalView } from "./terminal.js";
import { overlaySection } from "./overlays.js";
import { playerFor } from "./player.js";

const MAX_PIPELINES = 200;
const SAMPLES = 120;

class RunView {
  constructor(page, id) {
    this.page = page;
    this.id = id;
    this.samples = [];
    this.terminals = new Map();
  }

  async start() {
    this.detail = await getJson(`/api/runs/${encodeURIComponent(this.id)}`);
    this.id = this.detail.start.run;
    document.title = `haft: ${title(this.text) || this.id}`;
    this.head = el("section", { class: "head" });
    this.figures = el("section", { "aria-label": "Resources", class: "figures" });
    this.plot = el("section", { "aria-label": "Memory and CPU over time", class: "plot", hidden: true });
    this.stages = el("section", { "aria-labelledby": "stages-title" });
    this.outputs = el("section", { "aria-label": "Output", class: "outputs" });
    this.rest = el("section");
    this.page.main.replaceChildren(this.head, this.figures, this.plot, this.stages, this.outputs, this.rest);
    this.draw();
    this.timer = setInterval(() => this.drawHead(), 1000);
    this.page.subscribe(queryOf({ run: this.id }), {
      runs: () => this.reload(),
      reset: (again) => again && this.reload(),
      status: (status) => this.setStatus(status),
      processes: (processes) => this.measure(processes),
    });
  }

  get text() {
    const { script, tool, argv } = this.detail.start;
    return script ?? [tool, ...(argv ?? [])].filter(Boolean).join(" ");
  }

  get summary() {
    const { state, start, end } = this.detail;
    return { state, time: start.time, code: end?.code ?? 0, duration: end?.duration ?? 0 };
  }

  async reload() {
    if (this.reloading) {
      this.again = true;
      return;
    }
    this.reloading = true;
    try {
      this.detail = await getJson(`/api/runs/${encodeURIComponent(this.id)}`);
      this.draw();
    } catch (error) {
      this.fail(error);
    }
    this.reloading = false;
    if (this.again) {
      this.again = false;
      this.reload();
    }
  }

  fail(error) {
    this.head.append(problem(error));
  }

  setStatus(status) {
    this.detail.live = status;
    this.drawOutputs();
    this.drawHead();
  }

  measure(processes) {
    this.detail.processes = processes;
    const last = this.samples.at(-1);
    const now = Date.now();
    const load = last ? Math.max(0, (processes.cpu - last.cpu) / ((now - last.time) / 1000)) : 0;
    this.samples.push({ time: now, cpu: processes.cpu, load, memory: processes.memory });
    if (this.samples.length > SAMPLES) this.samples.shift();
    this.drawFigures();
    this.drawPlot();
  }

  draw() {
    this.drawHead();
    this.drawFigures();
    this.drawStages();
    this.drawOutputs();
    this.drawRest();
  }

  drawHead() {
    const { start, state, live } = this.detail;
    const status = runState(this.summary);
    const signal = this.detail.end?.signal;
    const why = this.detail.end?.timed_out ? "timed out" : this.detail.end?.cancelled ? "cancelled" : signal;
    const waits = this.detail.processes?.waits_for_input || live?.needs_input;
    const facts = [
      el("span", { class: `state ${status.name}`, id: "state" }, `${status.sign} ${status.text}${why ? ` (${why})` : ""}`),
      el("span", {}, duration(elapsed(this.summary))),
      waits && state === "running" ? el("span", { class: "waits" }, "waits for input") : null,
      el("span", { class: "muted" }, `${day(start.time)} ${clock(start.time)}`),
      el("span", { class: "muted" }, start.kind),
      el("a", { href: `/${queryOf({ session: start.session })}` }, `session ${start.session}`),
      start.agent || start.client ? el("span", {}, start.agent ?? `${start.client.name} ${start.client.version}`) : null,
      el("code", { class: "muted" }, this.id),
    ];
    const kill = state === "running" ? button("End the run", () => this.kill(), { id: "kill", class: "danger", "aria-keyshortcuts": "x", disabled: this.killing }) : null;
    const hadFocus = document.activeElement?.id === "kill";
    this.head.replaceChildren(
      el("div", { class: "facts" }, facts, kill),
      el("pre", { class: "script", tabindex: 0, "aria-label": "Script" }, this.text || start.kind),
      el("p", { class: "muted" }, `in ${start.cwd || "?"}`),
      ...(this.problems ?? []),
    );
    if (hadFocus) document.getElementById("kill")?.focus();
  }

  async kill() {
    if (this.detail.state !== "running" || this.killing) return;
    this.killing = true;
    this.drawHead();
    try {
      await post(`/api/runs/${encodeURIComponent(this.id)}/kill`);
      this.problems = [];
    } catch (error) {
      this.problems = [problem(error)];
    }
    this.killing = false;
    await this.reload();
  }

  drawFigures() {
    const { end, processes, stages } = this.detail;
    const figure = (name, value) => el("div", { class: "figure" }, el("span", { class: "muted" }, name), el("b", {}, value));
    const outputs = this.streams();
    const list = [figure("time", duration(elapsed(this.summary)))];
    if (end) {
      list.push(figure("CPU", duration(end.cpu)), figure("largest memory", end.max_rss ? bytes(end.max_rss) : "-"));
    } else if (processes) {
      list.push(figure("CPU", duration(processes.cpu)), figure("memory", bytes(processes.memory)));
      list.push(figure("processes", String(processes.pids.length)));
    }
    list.push(figure("stages", String(stages.length)));
    list.push(figure("output", bytes(outputs.reduce((sum, output) => sum + output.bytes, 0))));
    if (end?.tree) {
      const left = end.tree.survivors ?? "unknown";
      list.push(figure("processes", `${end.tree.started} started, ${end.tree.killed} killed, ${left} left`));
    }
    this.figures.replaceChildren(...list);
  }

  drawPlot() {
    if (this.samples.length < 2) return;
    this.plot.hidden = false;
    const [width, height] = [240, 48];
    const line = (name, values, text) => {
      const largest = Math.max(...values, 1e-9);
      const x = (index) => (index / (SAMPLES - 1)) * width;
      const points = values.map((value, index) => `${x(index).toFixed(1)},${(height - 2 - (value / largest) * (height - 6)).toFixed(1)}`);
      return el("figure", {}, el("figcaption", { class: "muted" }, `${name}: ${text}`),
        svg("svg", { width, height, role: "img", "aria-label": `${name}: ${text}` }, svg("polyline", { class: "line", points: points.join(" ") })));
    };
    const last = this.samples.at(-1);
    this.plot.replaceChildren(
      line("memory", this.samples.map((sample) => sample.memory), bytes(last.memory)),
      line("CPU", this.samples.map((sample) => sample.load), `${Math.round(last.load * 100)} %`),
    );
  }

  drawStages() {
    const { stages, state } = this.detail;
    const pipelines = new Map();
    for (const stage of stages) {
      if (!pipelines.has(stage.pipeline)) pipelines.set(stage.pipeline, []);
      pipelines.get(stage.pipeline).push(stage);
    }
    const longest = Math.max(...stages.map((stage) => stage.wall), 1e-6);
    const all = [...pipelines.values()];
    const shown = all.slice(-MAX_PIPELINES);
    const more = all.length > shown.length ? el("li", { class: "muted" }, counted(all.length - shown.length, "earlier pipeline")) : null;
    const running = state === "running" ? el("li", { class: "muted" }, "… still running") : null;
    this.stages.replaceChildren(
      el("h2", { id: "stages-title" }, "Pipelines"),
      stages.length === 0 && !running
        ? el("p", { class: "muted" }, "No stages were recorded.")
        : el("ol", { class: "pipelines", tabindex: 0, "aria-label": "Pipelines with their stages" }, more, shown.map((pipeline) => pipelineOf(pipeline, longest)), running),
    );
  }

  /** The outputs: as the process of the run knows them, or as they were recorded. */
  streams() {
    const { live, end } = this.detail;
    const known = new Map();
    for (const output of end?.outputs ?? []) known.set(output.id, output);
    for (const output of live?.streams ?? []) known.set(output.id, { ...known.get(output.id), ...output });
    return [...known.values()].filter((output) => output.bytes > 0);
  }

  drawOutputs() {
    const streams = this.streams();
    if (streams.length === 0) {
      const isOpen = this.detail.state === "running" && this.detail.live;
      const text = isOpen
        ? "No output yet."
        : "haft has no output of this run: there was none, or it went directly to the terminal, file or pipe of the run. haft captures it with --json, --pty or --limit-output, and for MCP clients.";
      if (this.terminals.size === 0) this.outputs.replaceChildren(el("h2", {}, "Output"), el("p", { class: "muted" }, text));
      return;
    }
    if (this.terminals.size === 0) this.outputs.replaceChildren(el("h2", {}, "Output"));
    for (const output of streams) {
      const known = this.terminals.get(output.id);
      if (known) {
        if (output.lines !== undefined) known.view.update(output.lines, output.bytes);
        known.size.textContent = bytes(output.bytes);
        known.view.element.setAttribute("aria-busy", this.detail.state === "running");
      } else this.addTerminal(output);
    }
  }

  addTerminal(output) {
    const view = new TerminalView({ ...output, lines: output.lines ?? 1 }, this.id, this.detail.state === "running");
    const size = el("span", { class: "muted" }, bytes(output.bytes));
    const problems = el("div");
    view.onproblem = (error) => {
      view.close();
      view.element.hidden = true;
      problems.replaceChildren(problem(error));
    };
    view.onwindow = (window) => {
      const lost = window.lost_bytes > 0 ? `, ${bytes(window.lost_bytes)} not kept` : "";
      size.textContent = `${bytes(window.total_bytes)} in ${counted(window.total_lines, "line")}${lost}`;
    };
    const raw = `/api/outputs/${encodeURIComponent(output.id)}/raw${queryOf({ run: this.id })}`;
    const head = el("h3", {}, output.stream, " ", size, " ",
      el("a", { href: raw, download: "output.txt" }, "save"), " ",
      button("follow", () => view.toEnd()));
    if (output.stream === "output") this.offerReplay(output, head, view, problems);
    this.outputs.append(el("div", { class: "output" }, head, problems, view.element));
    this.terminals.set(output.id, { view, size });
    view.resize();
    view.draw();
  }

  drawRest() {
    const { end, start } = this.detail;
    const parts = [];
    if (end?.error) parts.push(el("h2", {}, "Error"), el("pre", {}, end.error));
    if (end?.policy?.length) parts.push(el("h2", {}, "Policy"), el("ul", {}, end.policy.map((text) => el("li", {}, text))));
    if (start.arguments) parts.push(el("h2", {}, "Arguments"), el("pre", {}, JSON.stringify(start.arguments, null, 2)));
    if (end?.changed && this.overlay !== end.changed.overlay) {
      this.overlay = end.changed.overlay;
      this.changes = overlaySection(end.changed.overlay, end.changed);
    }
    if (this.changes) parts.push(this.changes);
    const record = { start, stages: this.detail.stages, end };
    parts.push(el("details", {}, el("summary", {}, "Record"), el("pre", { tabindex: 0 }, JSON.stringify(record, null, 2))));
    this.rest.replaceChildren(...parts);
  }

  /** Adds a button that replays the output, if it was written to a terminal. */
  offerReplay(output, head, view, problems) {
    const toggle = button("replay", async () => {
      if (this.player) {
        this.player.close();
        this.player.element.remove();
        this.player = undefined;
      } else {
        try {
          this.player = await playerFor(output, this.id);
        } catch (error) {
          problems.replaceChildren(problem(error));
          return;
        }
        if (!this.player) {
          toggle.disabled = true;
          toggle.title = "Only the output of a terminal can be replayed.";
          return;
        }
        view.element.before(this.player.element);
        this.player.element.focus();
      }
      view.element.hidden = this.player !== undefined;
      toggle.textContent = this.player ? "show lines" : "replay";
    });
    head.append(" ", toggle);
  }

  key(event) {
    const views = [...this.terminals.values()].map((terminal) => terminal.view);
    const view = views.find((candidate) => candidate.element === document.activeElement) ?? views[0];
    if (event.key === "x") this.kill();
    else if (event.key === "f" && view) view.toEnd();
    else if (event.key === "G" && view) view.toEnd();
    else if (event.key === "g" && view) view.toStart();
    else return false;
    return true;
  }

  close() {
    clearInterval(this.timer);
    this.player?.close();
    for (const { view } of this.terminals.values()) view.close();
  }
}

/** A pipeline as boxes with arrows between them. */
function pipelineOf(stages, longest) {
  const boxes = stages.flatMap((stage, index) => {
    const failed = stage.code !== 0;
    const state = stage.signal ?? (failed ? `✕ exit ${stage.code}` : "✓");
    const [name, ...words] = stage.argv;
    const facts = [duration(stage.wall)];
    if (stage.cpu) facts.push(`CPU ${duration(stage.cpu)}`);
    if (stage.max_rss) facts.push(bytes(stage.max_rss));
    if (stage.bytes_out !== undefined) facts.push(`${bytes(stage.bytes_out)} out`);
    const share = Math.max(0.02, stage.wall / longest);
    const bar = svg("svg", { class: "wall", width: "100%", height: 4, "aria-hidden": true },
      svg("rect", { width: `${(share * 100).toFixed(1)}%`, height: 4, rx: 2 }));
    const box = el("div", { class: failed ? "stage failed" : "stage", title: stage.argv.join(" ") },
      el("div", { class: "command" }, el("b", {}, name ?? stage.kind), " ", el("span", { class: "words" }, words.join(" "))),
      el("div", { class: "muted" }, el("span", { class: failed ? "failed" : "ok" }, state), " ", facts.join(", ")),
      bar);
    return index > 0 ? [el("span", { class: "arrow", "aria-hidden": true }, "→"), box] : [box];
  });
  return el("li", { class: "pipeline" }, boxes);
}

export async function showRun(page, id) {
  const view = new RunView(page, id);
  await view.start();
  return view;
}
