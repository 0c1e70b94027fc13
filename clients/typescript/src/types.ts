/** The data that calls take and return. */

import type { Overlay } from "./overlay.js";

/** Conditions to wait for. The first one that is met ends the wait. */
export interface Until {
  /** A regular expression that new output matches. */
  pattern?: string;
  /** Seconds without output. */
  quiet?: number;
  /** A process of the script listens on this TCP port: `8080` or `"host:8080"`. */
  port?: number | string;
  /** This file exists. */
  file?: string;
  /** A process waits for input. */
  input?: boolean;
}

/** Limits of a script with its programs. */
export interface Limits {
  /** Bytes of memory. */
  memory?: number;
  /** Seconds of CPU time of each program. */
  cpu?: number;
  /** Processes and threads at once. */
  processes?: number;
  /** Bytes of changed files in the overlay. */
  disk?: number;
  /** Bytes of each output to store. */
  output?: number;
  /** Refuse to start if the kernel cannot enforce a limit. */
  strict?: boolean;
}

/** Options of a call. */
export interface CallOptions {
  /** Cancels the call. Everything that the call started ends. */
  signal?: AbortSignal;
}

/** Options of a script. */
export interface ScriptOptions extends CallOptions {
  /** Seconds until the script is ended; 120 by default. `null` means the longest time, one day. */
  timeout?: number | null;
  /** The working directory. */
  cwd?: string;
  /** Additional environment variables. */
  env?: Record<string, string>;
  /** Text for standard input, which is empty by default. */
  stdin?: string;
  /** Merge standard error into `stdout`, in the order of writing. */
  merge?: boolean;
  /** Run on a terminal. Implies `merge`. */
  pty?: boolean;
  /** `true`: change only copies of the project's files. An overlay: continue in it. */
  overlay?: boolean | string | Overlay;
  /** Limits of the script with its programs. */
  limits?: Limits;
}

/** Options of `run`. */
export interface RunOptions extends ScriptOptions {
  /** Throw {@link ScriptError} if the exit status is not 0. */
  check?: boolean;
  /** Called with every line of output while the script runs. If it throws or rejects, the script is ended. */
  onLine?: (line: Line) => unknown;
}

/** Options of a job. */
export interface JobOptions extends ScriptOptions {
  /** Keep standard input open for `write`. */
  interactive?: boolean;
}

/** Options of `start`. */
export interface StartOptions extends JobOptions {
  /** Wait for the first of these conditions. */
  until?: Until;
}

/** Options of actions that wait for a job. */
export interface WaitOptions extends CallOptions {
  /** Wait for the first of these conditions. */
  until?: Until;
  /** Seconds to wait. The job continues afterwards. */
  timeout?: number;
}

/** The part of an output to read. At most one of `head`, `tail`, `lines` and `grep`. */
export interface View {
  /** The first lines. */
  head?: number;
  /** The last lines. */
  tail?: number;
  /** The first and the last line, from 1. */
  lines?: readonly [number, number];
  /** Only lines that match this regular expression, numbered. */
  grep?: string;
  /** Lines around each match. */
  context?: number;
}

/** The name of an output. */
export type StreamName = "stdout" | "stderr" | "output" | "late";

/** A line of output, without its end. */
export interface Line {
  text: string;
  /** `output` if the streams are merged; `late` for output that a substitution left behind. */
  stream: StreamName;
}

/** One command of a pipeline. */
export interface Stage {
  argv: string[];
  /** `builtin`, `external`, `function`, `assignment` and others. */
  kind: string;
  status: number;
  signal: string | null;
  /** The number of the pipeline, from 0. */
  pipeline: number;
  /** Seconds. */
  duration: number;
  /** How much it wrote to standard output, if that is known. */
  bytesOut: number | null;
}

/** The answer to an action on a job. */
export interface JobState {
  /** Output since the previous answer; both streams if they are merged. */
  stdout: string;
  stderr: string;
  /** Whether the script still runs. */
  running: boolean;
  /** The condition that was met. */
  met?: string;
  /** Whether a process waits for input. */
  needsInput: boolean;
  /** The answer as a model sees it. */
  text: string;
  /** The whole structured content. */
  data: RunData;
}

/** A tool that the server offers. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
}

/** The result of a tool. */
export interface ToolResult {
  text: string;
  /** The structured content. */
  data: any;
  /** All content blocks, such as text and images. */
  content: { type: string; text?: string; [name: string]: unknown }[];
}

/** A changed path of an overlay. */
export interface Change {
  path: string;
  kind: "added" | "modified" | "attributes" | "deleted" | "renamed";
  [name: string]: unknown;
}

/** A part of an output, as the server describes it. */
export interface OutputData {
  text: string;
  lossy: boolean;
  total_bytes: number;
  total_lines: number;
  truncated: boolean;
  omitted?: { bytes: number; lines: number; lost_bytes?: number };
  id: string;
}

/** An exit status, as the server describes it. */
export interface StatusData {
  code: number;
  signal: string | null;
  timed_out: boolean;
  cancelled: boolean;
}

/** The structured content of the tools `run` and `job`. */
export interface RunData {
  state: "running" | "ended";
  status?: StatusData;
  stages?: { argv: string[]; kind: string; status: StatusData; pipeline: number; wall: number; bytes_out?: number | null }[];
  stdout?: OutputData;
  stderr?: OutputData;
  output?: OutputData;
  late?: OutputData;
  duration: number;
  cwd?: string;
  job?: string;
  pids?: number[];
  needs_input?: boolean;
  met?: string;
  overlay?: { id: string };
  [name: string]: unknown;
}
