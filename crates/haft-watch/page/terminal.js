// Output as a terminal shows it: colours, carriage returns and erasures. Only the visible lines are loaded.
//
// The output is hostile: it becomes text nodes, classes from a fixed list, and colours as numbers.

import { el, getJson, queryOf } from "./dom.js";

const LINE_PIXELS = 18;
const PAGE_LINES = 200;
const MAX_PAGES = 40;
const EXTRA_LINES = 20;
/** Browsers cannot scroll elements of any height. Beyond this, a pixel stands for several lines. */
const MAX_HEIGHT_PIXELS = 8_000_000;
const TAB = 8;
const MAX_COLUMNS = 20_000;

const PLAIN = Object.freeze({});
const FLAGS = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const UNSET = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"] };

/** Applies the numbers of a "select graphic rendition" sequence to a style. */
export function applyColours(style, text) {
  const codes = text.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  let next = { ...style };
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index];
    const extended = code === 38 || code === 48;
    if (code === 0) next = style.link ? { link: style.link } : {};
    else if (code in FLAGS) next[FLAGS[code]] = true;
    else if (code in UNSET) for (const flag of UNSET[code]) delete next[flag];
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    else if (code === 39) delete next.fg;
    else if (code === 49) delete next.bg;
    else if (extended && codes[index + 1] === 5) {
      next[code === 38 ? "fg" : "bg"] = paletteColour(codes[index + 2]);
      index += 2;
    } else if (extended && codes[index + 1] === 2) {
      next[code === 38 ? "fg" : "bg"] = rgb(codes[index + 2], codes[index + 3], codes[index + 4]);
      index += 4;
    }
  }
  return next;
}

const channel = (value) => (Number.isInteger(value) ? Math.max(0, Math.min(255, value)) : 0);
const rgb = (red, green, blue) => `rgb(${channel(red)}, ${channel(green)}, ${channel(blue)})`;

function paletteColour(number) {
  if (!Number.isInteger(number) || number < 0 || number > 255) return undefined;
  if (number < 16) return number;
  if (number >= 232) return rgb(8 + (number - 232) * 10, 8 + (number - 232) * 10, 8 + (number - 232) * 10);
  const level = (value) => (value === 0 ? 0 : 55 + value * 40);
  const cube = number - 16;
  return rgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** An address that a link may have, or undefined. */
export function safeLink(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:"].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const SEQUENCE =
  // CSI, OSC, other strings (DCS, SOS, PM, APC), other escapes; each may lack its end.
  /\x1b\[([0-?]*)([ -/]*)([@-~]?)|\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?/y;

/** Renders a line. Returns its cells and the style at its end. */
export function renderLine(text, style) {
  const cells = [];
  let column = 0;
  let index = 0;
  const moveTo = (target) => {
    column = Math.max(0, Math.min(MAX_COLUMNS, target));
  };
  const put = (character) => {
    if (column >= MAX_COLUMNS) return;
    while (cells.length < column) cells.push({ text: " ", style: PLAIN });
    cells[column++] = { text: character, style };
  };
  while (index < text.length) {
    const code = text.codePointAt(index);
    const character = String.fromCodePoint(code);
    if (code === 0x1b) {
      SEQUENCE.lastIndex = index;
      const found = SEQUENCE.exec(text);
      index += Math.max(1, found?.[0].length ?? 1);
      if (found?.[3]) {
        const count = Math.max(1, parseInt(found[1], 10) || 1);
        if (found[3] === "m" && !found[2]) style = applyColours(style, found[1]);
        else if (found[3] === "C") moveTo(column + count);
        else if (found[3] === "D") moveTo(column - count);
        else if (found[3] === "G") moveTo(count - 1);
        else if (found[3] === "K") erase(cells, column, parseInt(found[1], 10) || 0);
      } else if (found?.[4]?.startsWith("8;")) {
        const link = safeLink(found[4].slice(found[4].indexOf(";", 2) + 1));
        style = { ...style, link };
      }
      continue;
    }
    index += character.length;
    if (character === "\r") column = 0;
    else if (character === "\b") moveTo(column - 1);
    else if (character === "\t") moveTo((Math.floor(column / TAB) + 1) * TAB);
    else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0)) put(character);
  }
  return { cells, style };
}

function erase(cells, column, mode) {
  if (mode === 0) cells.length = Math.min(cells.length, column);
  else if (mode === 2) cells.length = 0;
  else for (let index = 0; index <= column && index < cells.length; index++) cells[index] = { text: " ", style: PLAIN };
}

/** The cells as elements, one for each stretch of the same style. */
export function elementsOf(cells) {
  const parts = [];
  for (let index = 0; index < cells.length; ) {
    const { style } = cells[index];
    let text = "";
    for (; index < cells.length && cells[index].style === style; index++) text += cells[index].text;
    parts.push(styled(text, style));
  }
  return parts;
}

function styled(text, style) {
  const names = Object.values(FLAGS).filter((name) => style[name]);
  for (const side of ["fg", "bg"]) if (typeof style[side] === "number") names.push(`${side}-${style[side]}`);
  const isPlain = names.length === 0 && !style.link && !style.fg && !style.bg;
  if (isPlain) return document.createTextNode(text);
  const attributes = { class: names.join(" ") || undefined };
  const part = style.link
    ? el("a", { ...attributes, href: style.link, rel: "noreferrer noopener", target: "_blank", title: style.link }, text)
    : el("span", attributes, text);
  if (typeof style.fg === "string") part.style.color = style.fg;
  if (typeof style.bg === "string") part.style.backgroundColor = style.bg;
  return part;
}

/** Shows an output in a window, and follows it if asked to. */
export class TerminalView {
  constructor(output, run, isFollowing) {
    this.output = output;
    this.run = run;
    this.isFollowing = isFollowing;
    this.total = 0;
    this.pages = new Map();
    this.loading = new Map();
    this.lines = el("div", { class: "lines" });
    this.space = el("div", { class: "space" }, this.lines);
    this.element = el(
      "div",
      { class: "terminal", tabindex: 0, role: "log", "aria-live": "off", "aria-label": `Output ${output.stream}`, onscroll: () => this.scrolled() },
      this.space,
    );
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.element);
    this.update(output.lines ?? 0, output.bytes);
  }

  /** Sets the size of the output so far. */
  update(lines, bytes) {
    if (lines === this.total && bytes === this.bytes) return;
    const last = Math.floor(Math.max(0, this.total - 1) / PAGE_LINES);
    for (const number of this.pages.keys()) if (number >= last) this.pages.get(number).isOld = true;
    this.total = lines;
    this.bytes = bytes;
    this.resize();
    if (this.isFollowing) this.toEnd();
    this.draw();
  }

  resize() {
    this.height = Math.min(this.total * LINE_PIXELS, MAX_HEIGHT_PIXELS);
    this.space.style.height = `${this.height}px`;
    const needed = Math.max(3, this.total + 1) * LINE_PIXELS;
    this.element.style.height = `min(60vh, 640px, ${needed}px)`;
  }

  get visible() {
    return Math.ceil(this.element.clientHeight / LINE_PIXELS);
  }

  /** The first visible line, counted from 0. */
  get first() {
    const { scrollTop, clientHeight } = this.element;
    if (this.height === this.total * LINE_PIXELS) return Math.floor(scrollTop / LINE_PIXELS);
    const part = scrollTop / Math.max(1, this.height - clientHeight);
    return Math.round(Math.min(1, part) * Math.max(0, this.total - this.visible + 1));
  }

  toEnd() {
    this.element.scrollTop = this.height;
    this.isFollowing = true;
  }

  toStart() {
    this.isFollowing = false;
    this.element.scrollTop = 0;
  }

  scrolled() {
    const { scrollTop, clientHeight } = this.element;
    this.isFollowing = scrollTop + clientHeight >= this.height - LINE_PIXELS;
    this.draw();
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
    const top = this.first;
    const first = Math.max(0, top - EXTRA_LINES);
    const last = Math.min(this.total, top + this.visible + EXTRA_LINES);
    const shown = [];
    for (let index = first; index < last; index++) shown.push(this.lineAt(index));
    const isExact = this.height === this.total * LINE_PIXELS;
    const offset = isExact ? first * LINE_PIXELS : this.element.scrollTop - (top - first) * LINE_PIXELS;
    this.lines.style.transform = `translateY(${Math.max(0, offset)}px)`;
    this.lines.replaceChildren(...shown);
  }

  lineAt(index) {
    const number = Math.floor(index / PAGE_LINES);
    const page = this.pages.get(number);
    if (!page || page.isOld) this.load(number);
    const line = page?.lines[index - number * PAGE_LINES];
    const shown = el("div", { class: "line" }, el("span", { class: "number", "aria-hidden": true }, String(index + 1)));
    if (!line) {
      shown.append(el("span", { class: "muted" }, page ? "" : "…"));
      return shown;
    }
    shown.append(el("span", { class: "content" }, elementsOf(line.cells)));
    if (line.cut) shown.append(el("span", { class: "note" }, " … the line is longer; save the output to see all of it"));
    if (line.lost) shown.append(el("span", { class: "note" }, "not kept"));
    return shown;
  }

  async load(number) {
    if (this.loading.has(number) || this.closed) return;
    this.loading.set(number, true);
    const query = queryOf({ run: this.run, first: number * PAGE_LINES + 1, count: PAGE_LINES });
    const before = this.pages.get(number);
    if (before) before.isOld = false;
    try {
      const window = await getJson(`/api/outputs/${encodeURIComponent(this.output.id)}/lines${query}`);
      this.store(number, window.lines);
      this.failures = 0;
      this.onwindow?.(window);
      if (window.total_lines !== this.total) this.update(window.total_lines, window.total_bytes);
    } catch (error) {
      // An output is stored a moment after its run has ended.
      this.failures = (this.failures ?? 0) + 1;
      if (this.failures > 5) this.onproblem?.(error);
      else setTimeout(() => this.draw(), 200);
    }
    this.loading.delete(number);
    this.draw();
  }

  store(number, lines) {
    // A colour may have begun on the page before.
    let style = this.pages.get(number - 1)?.style ?? PLAIN;
    const rendered = lines.map((line) => {
      const { cells, style: after } = renderLine(line.text, style);
      style = after;
      return { cells, cut: line.cut, lost: line.lost };
    });
    this.pages.delete(number);
    this.pages.set(number, { lines: rendered, style });
    const oldest = this.pages.keys().next().value;
    if (this.pages.size > MAX_PAGES) this.pages.delete(oldest);
  }

  close() {
    this.closed = true;
    this.resized.disconnect();
  }
}
