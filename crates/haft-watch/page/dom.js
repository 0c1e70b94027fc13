// Elements, requests and formats. Text is only ever set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

async function request(path, options) {
  const response = await fetch(path, { credentials: "same-origin", ...options });
  if (!response.ok) {
    const error = new Error((await response.text()).trim() || response.statusText);
    error.status = response.status;
    throw error;
  }
  return response.json();
}

export const getJson = (path, signal) => request(path, { signal });
export const post = (path) => request(path, { method: "POST" });

/** A query string of the values that are not empty. */
export function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const whole = Math.floor(seconds);
  if (seconds < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m`;
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; unit++) count /= 1024;
  return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
}

/** A number with a noun. */
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

const two = (number) => String(number).padStart(2, "0");
export const clock = (time) => {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
};
export const day = (time) => {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

/** The state of a run as a class and as words; colour is never the only sign. */
export function runState(run) {
  if (run.state === "running") return { name: "running", sign: "●", text: "running" };
  if (run.state === "lost") return { name: "lost", sign: "?", text: "lost" };
  if (run.code === 0) return { name: "ok", sign: "✓", text: "ok" };
  return { name: "failed", sign: "✕", text: `exit ${run.code}` };
}

/** The time of a run so far, in seconds. */
export const elapsed = (run) =>
  run.state === "running" ? Math.max(0, (Date.now() - run.time) / 1000) : run.duration;

/** The first line of a text, without control characters. */
export const title = (text) =>
  (text.split("\n").find((line) => line.trim()) ?? "").trim().replace(/\p{Cc}/gu, "\u{fffd}");

export const button = (text, action, attributes) => el("button", { type: "button", onclick: action, ...attributes }, text);
export const problem = (error) => el("p", { class: "problem", role: "alert" }, String(error.message ?? error));
