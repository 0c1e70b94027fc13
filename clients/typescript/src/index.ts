/** haft runs bash scripts under supervision: it ends every process it started, and keeps every output. */

export { findBinary } from "./binary.js";
export * from "./errors.js";
export { Haft, Session } from "./haft.js";
export { Job } from "./job.js";
export { LineStream } from "./lines.js";
export { type CommitOptions, Overlay } from "./overlay.js";
export { Result } from "./result.js";
export type { HaftOptions } from "./server.js";
export type * from "./types.js";
