/** Scripts in the background. */

import { type Answer, callForAnswer, MAX_TIMEOUT, MAX_VIEW_BYTES, readOutput } from "./calls.js";
import type { Connection } from "./connection.js";
import { ToolError, WaitTimeout } from "./errors.js";
import { LineReader } from "./lines.js";
import { Result } from "./result.js";
import type { CallOptions, JobState, Line, OutputData, StreamName, WaitOptions } from "./types.js";

const STREAMS: readonly StreamName[] = ["stdout", "stderr", "output", "late"];
const TIMEOUT_STATUS = 124;
/** For answers whose output is read in another way. */
const SHORT_VIEW = { bytes: 1 };

/** A script that runs in the background. It ends with the client. */
export class Job {
  /** The first answer, which has the output up to then. */
  readonly state: JobState;
  readonly #connection: Connection;
  #id: string | undefined;
  #outputs = new Map<StreamName, OutputData>();
  #final: Answer | undefined;
  /** The streams of which the final answer has only a part. */
  #partial: StreamName[] = [];
  #isKnownToServer = true;

  constructor(connection: Connection, answer: Answer) {
    this.#connection = connection;
    this.state = this.#absorb(answer, false);
  }

  /** The id of the job; `undefined` if the script ended before it became a job. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Whether the script still ran at the last answer. */
  get running(): boolean {
    return this.#final === undefined;
  }

  /** @internal The outputs as of the last answer. */
  get outputs(): ReadonlyMap<StreamName, OutputData> {
    return this.#outputs;
  }

  /** Waits for the first of the conditions, the end of the script, or the timeout. Returns the output since the last answer. */
  wait(options: WaitOptions = {}): Promise<JobState> {
    return this.#act("wait", { until: options.until, timeout: options.timeout ?? MAX_TIMEOUT }, options.signal);
  }

  /** Waits for the end and returns the result with the whole output. Throws {@link WaitTimeout} if the script still runs. */
  async result(options: CallOptions & { timeout?: number } = {}): Promise<Result> {
    if (this.#final === undefined) await this.wait(options);
    if (this.#final === undefined) throw new WaitTimeout(`job '${this.#id}' still runs after ${options.timeout} s`);
    const final = this.#final;
    for (const name of this.#partial.splice(0)) {
      const stream = final.data[name];
      if (stream?.total_bytes) final.data[name] = await readOutput(this.#connection, stream.id, {});
    }
    return new Result(this.#connection, final);
  }

  /** Returns the output since the last answer, without waiting. */
  read(): Promise<JobState> {
    return this.#act("read", {});
  }

  /** Writes to standard input, and waits until the script waits for input again or is silent. */
  write(text: string, { signal, ...options }: WaitOptions = {}): Promise<JobState> {
    return this.#act("write", { text, ...options }, signal);
  }

  /** Ends standard input. */
  closeStdin(): Promise<JobState> {
    return this.#act("close_stdin", {});
  }

  /** Changes the size of the terminal. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#act("resize", { columns, rows });
  }

  /** Sends a signal, such as `"INT"`. */
  signal(name: string, { signal, ...options }: WaitOptions = {}): Promise<JobState> {
    return this.#act("signal", { signal: name, ...options }, signal);
  }

  /** Ends the script with all its processes. */
  kill(): Promise<JobState> {
    return this.#act("kill", {});
  }

  /** All lines of the output, from the first one to the end of the script, as they are written. */
  async *lines(options: CallOptions = {}): AsyncGenerator<Line, void, undefined> {
    const reader = new LineReader(this.#connection, this, null, options.signal);
    for (let lines = await reader.lines(); lines.length; lines = await reader.lines()) yield* lines;
  }

  /** @internal Waits for a line, without returning it. */
  async waitForLine(seconds: number, signal?: AbortSignal): Promise<void> {
    await this.#act("wait", { until: { pattern: "\n" }, timeout: seconds, view: SHORT_VIEW }, signal);
  }

  /** @internal Ends the script because its time is over. */
  async timeOut(): Promise<void> {
    await this.#act("kill", { view: SHORT_VIEW });
    const status = this.#final?.data.status;
    if (status?.cancelled) Object.assign(status, { code: TIMEOUT_STATUS, timed_out: true, cancelled: false });
  }

  async #act(action: string, args: { view?: object; [name: string]: unknown }, signal?: AbortSignal): Promise<JobState> {
    if (!this.#isKnownToServer) return this.#lastState();
    const given = { action, id: this.#id, view: { bytes: MAX_VIEW_BYTES }, ...args };
    let answer: Answer;
    try {
      answer = await callForAnswer(this.#connection, "job", given, signal);
    } catch (error) {
      // The answer to another caller was the last one.
      if (error instanceof ToolError && !this.#isKnownToServer) return this.#lastState();
      throw error;
    }
    return this.#absorb(answer, args.view === SHORT_VIEW);
  }

  /** Takes what an answer tells about the job. */
  #absorb({ text, data }: Answer, isShort: boolean): JobState {
    this.#id = data.job ?? this.#id;
    const earlier = [...this.#outputs].filter(([, stream]) => stream.total_bytes).map(([name]) => name);
    this.#outputs = new Map();
    for (const name of STREAMS) if (data[name]) this.#outputs.set(name, data[name]);
    this.#isKnownToServer = data.job !== undefined;
    if (data.state === "ended" && !this.#final) {
      this.#final = { text, data };
      this.#partial = isShort ? [...this.#outputs.keys()] : earlier;
    }
    return {
      stdout: (data.output ?? data.stdout)?.text ?? "",
      stderr: data.stderr?.text ?? "",
      running: data.state === "running",
      needsInput: data.needs_input ?? false,
      ...(data.met === undefined ? {} : { met: data.met }),
      text,
      data,
    };
  }

  #lastState(): JobState {
    const data = this.#final?.data ?? this.state.data;
    return { stdout: "", stderr: "", running: false, needsInput: false, text: "", data };
  }
}
