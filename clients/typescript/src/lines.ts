/** Lines of output while a script runs. */

import { readOutput } from "./calls.js";
import type { Connection } from "./connection.js";
import { HaftError } from "./errors.js";
import type { Job } from "./job.js";
import type { Result } from "./result.js";
import type { Line, OutputData, StreamName } from "./types.js";

/** How long one wait for a new line may take. Another caller of the job may have received the line that it waits for. */
const LINE_WAIT_SECONDS = 1;
const LAST_LINE = Number.MAX_SAFE_INTEGER;
/** The last line of a part that did not fit, and the line that replaces bytes that the server did not store. */
const OMITTED = /^\[… \d+ bytes (in \d+ lines )?omitted …\]$/;
const NOT_KEPT = /^\[… \d+ bytes not kept …\]$/;

/** Lines of a part of an output. */
interface Part {
  texts: string[];
  /** The number of the next line. */
  next: number;
  /** Whether there are more lines to read now. */
  isCut: boolean;
}

/**
 * Splits the part that begins with the line `first`. `isLast` says that the output is complete, so that its last line needs
 * no end.
 */
export function splitPart(part: OutputData, first: number, isLast: boolean): Part {
  const end = part.total_lines + 1;
  // The line has begun, but its first character is not complete yet.
  if (!part.text) return { texts: [], next: isLast ? end : first, isCut: false };
  const texts = part.text.split("\n");
  const endsWithNewline = texts.at(-1) === "";
  if (endsWithNewline) texts.pop();
  if (part.truncated && OMITTED.test(texts.at(-1) ?? "")) return splitCutPart(part, first, texts);
  if (endsWithNewline || isLast) return { texts, next: end, isCut: false };
  return { texts: texts.slice(0, -1), next: end - 1, isCut: false };
}

function splitCutPart(part: OutputData, first: number, all: string[]): Part {
  const texts = all.slice(0, -1);
  const omitted = part.omitted ?? { bytes: 0, lines: 0 };
  // Lines are missing in the middle, so that nothing tells the number of the next one.
  if (texts.some((text) => NOT_KEPT.test(text))) return { texts: all, next: part.total_lines + 1, isCut: false };
  const count = part.total_lines - omitted.lines;
  const shownBytes = part.total_bytes - omitted.bytes;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes === shownBytes) return { texts, next: first + count, isCut: true };
  // The last line that is shown is cut. Only a line that is too long for one part is passed on like this.
  if (texts.length > 1) return { texts: texts.slice(0, -1), next: first + count - 1, isCut: true };
  return { texts: [all.join("")], next: first + Math.max(count, 1), isCut: true };
}

/** Reads the output of a job line by line, without loss. */
export class LineReader {
  readonly #connection: Connection;
  readonly #job: Job;
  readonly #deadline: number;
  readonly #signal: AbortSignal | undefined;
  readonly #nextLine = new Map<StreamName, number>();
  /** The number of bytes of each stream when it was last read to its end. */
  readonly #readBytes = new Map<StreamName, number>();

  constructor(connection: Connection, job: Job, timeout: number | null, signal?: AbortSignal) {
    this.#connection = connection;
    this.#job = job;
    this.#deadline = timeout === null ? Infinity : performance.now() + timeout * 1000;
    this.#signal = signal;
  }

  /** Waits for the next lines. The list is empty at the end. */
  async lines(): Promise<Line[]> {
    for (;;) {
      const isLast = !this.#job.running;
      let lines: Line[] = [];
      for (const [name, stream] of this.#job.outputs) lines = lines.concat(await this.#newLines(name, stream, isLast));
      if (lines.length || isLast) return lines;
      await this.#wait();
    }
  }

  async #wait(): Promise<void> {
    const seconds = Math.min(LINE_WAIT_SECONDS, (this.#deadline - performance.now()) / 1000);
    if (seconds > 0) await this.#job.waitForLine(seconds, this.#signal);
    else await this.#job.timeOut();
  }

  async #newLines(name: StreamName, stream: OutputData, isLast: boolean): Promise<Line[]> {
    const first = this.#nextLine.get(name) ?? 1;
    const isUnchanged = stream.total_bytes === (this.#readBytes.get(name) ?? 0);
    if (stream.total_lines < first || (isUnchanged && !isLast)) return [];
    const output = await readOutput(this.#connection, stream.id, { lines: [first, LAST_LINE] });
    const part = splitPart(output, first, isLast);
    this.#nextLine.set(name, part.next);
    this.#readBytes.set(name, part.isCut ? 0 : output.total_bytes);
    return part.texts.map((text) => ({ text, stream: name }));
  }
}

/** The lines of a script while it runs. Leaving the loop early ends the script. */
export class LineStream implements AsyncIterableIterator<Line> {
  readonly #connection: Connection;
  readonly #start: Promise<Job>;
  readonly #timeout: number | null;
  readonly #signal: AbortSignal | undefined;
  #reader: LineReader | undefined;
  #lines: Line[] = [];

  constructor(connection: Connection, start: Promise<Job>, timeout: number | null, signal?: AbortSignal) {
    this.#connection = connection;
    this.#start = start;
    this.#timeout = timeout;
    this.#signal = signal;
    // `next` reports the error.
    start.catch(() => undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Line, undefined>> {
    if (this.#lines.length === 0) {
      const job = await this.#start;
      this.#reader ??= new LineReader(this.#connection, job, this.#timeout, this.#signal);
      try {
        this.#lines = (await this.#reader.lines()).reverse();
      } catch (error) {
        await job.kill().catch(() => undefined);
        throw error;
      }
    }
    const value = this.#lines.pop();
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  /** Ends the script if it still runs. A `for await` loop calls this when it is left. */
  async return(): Promise<IteratorResult<Line, undefined>> {
    const job = await this.#start;
    if (job.running) await job.kill();
    return { done: true, value: undefined };
  }

  /** The job. */
  job(): Promise<Job> {
    return this.#start;
  }

  /** The result, after the end of the script. */
  async result(): Promise<Result> {
    const job = await this.#start;
    if (job.running) throw new HaftError("the script still runs\nhint: read all lines first");
    return job.result();
  }
}
