/** The results of scripts. */

import { type Answer, readOutput } from "./calls.js";
import type { Connection } from "./connection.js";
import { HaftError } from "./errors.js";
import { Job } from "./job.js";
import { Overlay } from "./overlay.js";
import type { OutputData, RunData, Stage, StatusData, StreamName, View } from "./types.js";

/** The result of a script that has ended. */
export class Result {
  /** The exit status: 128 plus the signal's number after a signal, 124 after a timeout. */
  readonly status: number;
  /** The signal that ended the script, such as `SIGKILL`. */
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly cancelled: boolean;
  /** Standard output as a terminal would show it; both streams if they were merged. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether a part of `stdout` or `stderr` is left out. `output()` and `outputBytes()` have it. */
  readonly truncated: boolean;
  /** The commands of the script's pipelines, each with its own status. */
  readonly stages: readonly Stage[];
  /** Seconds. */
  readonly duration: number;
  /** The working directory at the end. */
  readonly cwd: string | undefined;
  /** The result as a model sees it: output, then one line of facts. */
  readonly text: string;
  /** The whole structured content. */
  readonly data: RunData;
  readonly #connection: Connection;

  constructor(connection: Connection, { text, data }: Answer) {
    const status = data.status as StatusData;
    this.status = status.code;
    this.signal = status.signal;
    this.timedOut = status.timed_out;
    this.cancelled = status.cancelled;
    this.stdout = (data.output ?? data.stdout)?.text ?? "";
    this.stderr = data.stderr?.text ?? "";
    this.truncated = [data.stdout, data.stderr, data.output, data.late].some((stream) => stream?.truncated);
    this.stages = (data.stages ?? []).map((stage) => ({
      argv: stage.argv,
      kind: stage.kind,
      status: stage.status.code,
      signal: stage.status.signal,
      pipeline: stage.pipeline,
      duration: stage.wall,
      bytesOut: stage.bytes_out ?? null,
    }));
    this.duration = data.duration;
    this.cwd = data.cwd;
    this.text = text;
    this.data = data;
    this.#connection = connection;
  }

  /** Whether the exit status is 0. */
  get ok(): boolean {
    return this.status === 0;
  }

  /** Reads another part of the output. Nothing runs again. */
  async output(view: View = {}, stream: StreamName = "stdout"): Promise<string> {
    const output = this.#stream(stream);
    return output ? (await readOutput(this.#connection, output.id, view)).text : "";
  }

  /** Reads the output as it was written, up to 8 MiB. */
  async outputBytes(stream: StreamName = "stdout"): Promise<Buffer> {
    const output = this.#stream(stream);
    if (!output) return Buffer.alloc(0);
    const reply = await this.#connection.request("resources/read", { uri: `haft://output/${output.id}` });
    const [contents] = reply.contents as { text?: string; blob?: string; _meta?: Record<string, number> }[];
    if (contents?._meta?.["haft/omitted_bytes"]) {
      const total = contents._meta["haft/total_bytes"];
      throw new HaftError(`the output of ${total} bytes is too long to read at once\nhint: read parts of it with output()`);
    }
    return contents?.blob === undefined ? Buffer.from(contents?.text ?? "") : Buffer.from(contents.blob, "base64");
  }

  /** The processes that the script left running in the background, if there are any. */
  get job(): Job | undefined {
    return this.data.job === undefined ? undefined : new Job(this.#connection, { text: this.text, data: this.data });
  }

  /** The overlay in which the script ran. */
  get overlay(): Overlay | undefined {
    return this.data.overlay && new Overlay(this.#connection, this.data.overlay.id);
  }

  #stream(name: StreamName): OutputData | undefined {
    const output = name === "stdout" ? (this.data.output ?? this.data.stdout) : this.data[name];
    return output?.total_bytes ? output : undefined;
  }
}
