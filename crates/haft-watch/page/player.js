// Replays the output of a terminal.

import { button, bytes, duration, el, getJson, queryOf } from "./dom.js";
import { Screen } from "./screen.js";
import { elementsOf } from "./terminal.js";

/** Larger outputs are not loaded into the page. */
const MAX_REPLAYED_BYTES = 8 << 20;
const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_SECONDS = 5;

/** Makes a player for an output, or returns undefined if it is not that of a terminal. */
export async function playerFor(output, run) {
  const query = queryOf({ run });
  const path = `/api/outputs/${encodeURIComponent(output.id)}`;
  const recording = await getJson(`${path}/recording${query}`);
  if (!recording) return undefined;
  const last = recording.events.findLast((event) => event.change.output !== undefined);
  const total = last?.change.output ?? 0;
  if (total > MAX_REPLAYED_BYTES) {
    return { element: el("p", { class: "muted" }, `${bytes(total)} are too much for a replay here; 'haft log replay ${run}' plays it in a terminal.`), close() {} };
  }
  const response = await fetch(`${path}/raw${query}`, { credentials: "same-origin" });
  if (!response.ok) throw new Error(await response.text());
  return new Player(recording, new Uint8Array(await response.arrayBuffer()));
}

class Player {
  constructor(recording, content) {
    this.recording = recording;
    this.content = content;
    this.length = (recording.events.at(-1)?.time ?? 0) / 1e6;
    this.speed = 1;
    this.playButton = button("▶ play", () => this.toggle());
    this.slider = el("input", {
      type: "range", min: 0, max: Math.max(this.length, 0.001), step: "any", "aria-label": "Time",
      oninput: () => this.seek(Number(this.slider.value)),
    });
    this.clock = el("span", { class: "muted" });
    const speeds = el("select", { "aria-label": "Speed", onchange: (event) => this.setSpeed(Number(event.target.value)) },
      SPEEDS.map((speed) => el("option", { value: speed, selected: speed === 1 }, `${speed}×`)));
    this.lines = el("div", { class: "screen", role: "img", "aria-label": "Screen of the terminal" });
    this.element = el("div", { class: "player", tabindex: 0, onkeydown: (event) => this.key(event) },
      el("div", { class: "controls" }, this.playButton, this.slider, this.clock, speeds), this.lines);
    this.seek(this.length);
  }

  /** Shows the screen at a time. */
  seek(seconds) {
    seconds = Math.max(0, Math.min(this.length, seconds));
    if (!this.screen || seconds < this.time) {
      const { columns, rows } = this.recording.size;
      this.screen = new Screen(columns, rows);
      this.decoder = new TextDecoder();
      [this.next, this.offset] = [0, 0];
    }
    this.time = seconds;
    const { events } = this.recording;
    for (; this.next < events.length && events[this.next].time <= seconds * 1e6; this.next++) {
      const { output, resize } = events[this.next].change;
      if (resize) this.screen.resize(resize.columns, resize.rows);
      else {
        this.screen.write(this.decoder.decode(this.content.subarray(this.offset, output), { stream: true }));
        this.offset = output;
      }
    }
    this.draw();
  }

  draw() {
    this.lines.replaceChildren(...this.screen.lines().map((cells) => el("div", { class: "line" }, elementsOf(cells))));
    this.slider.value = this.time;
    this.clock.textContent = `${duration(this.time)} of ${duration(this.length)}`;
    this.playButton.textContent = this.isPlaying ? "⏸ pause" : "▶ play";
  }

  toggle() {
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying) {
      if (this.time >= this.length) this.seek(0);
      this.continueFrom();
      this.tick();
    }
    this.draw();
  }

  /** Measures the time from now on. */
  continueFrom() {
    this.begun = performance.now() - (this.time / this.speed) * 1000;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.continueFrom();
  }

  tick() {
    if (!this.isPlaying || this.closed) return;
    const time = ((performance.now() - this.begun) / 1000) * this.speed;
    if (time >= this.length) this.isPlaying = false;
    this.seek(time);
    requestAnimationFrame(() => this.tick());
  }

  key(event) {
    if (event.target !== this.element) return;
    if (event.key === " ") this.toggle();
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.seek(this.time + (event.key === "ArrowLeft" ? -STEP_SECONDS : STEP_SECONDS));
      this.continueFrom();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  close() {
    this.closed = true;
  }
}
