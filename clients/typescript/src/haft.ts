/** The client. */

import { statSync } from "node:fs";
import { createRequire } from "node:module";

import { findBinary } from "./binary.js";
import { call, callForAnswer, DEFAULT_TIMEOUT, runArguments, startArguments } from "./calls.js";
import { Connection } from "./connection.js";
import { HaftError, ScriptError } from "./errors.js";
import { Job } from "./job.js";
import { LineStream } from "./lines.js";
import { Overlay } from "./overlay.js";
import { Result } from "./result.js";
import { type HaftOptions, serverArguments } from "./server.js";
import type { CallOptions, JobOptions, RunOptions, StartOptions, Tool, ToolResult } from "./types.js";

const PROTOCOL_VERSION = "2025-11-25";
const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** Runs scripts: a client, or a session of it. */
abstract class Shell {
  /** @internal */
  protected constructor(
    protected readonly connection: Connection,
    private readonly sessionName?: string,
  ) {}

  /** Runs a script and returns its result. */
  async run(script: string, { check, onLine, ...options }: RunOptions = {}): Promise<Result> {
    const result = onLine ? await this.#runWithLines(script, options, onLine) : await this.#runToEnd(script, options);
    if (check && !result.ok) throw new ScriptError(result);
    return result;
  }

  /**
   * Starts a script in the background. With `until` or `timeout`, waits until a condition is met, the script ends or the
   * timeout passes. The script continues in any case.
   */
  async start(script: string, options: StartOptions = {}): Promise<Job> {
    const args = startArguments(script, options, this.sessionName);
    return new Job(this.connection, await callForAnswer(this.connection, "run", args, options.signal));
  }

  /** Runs a script and iterates over its lines of output: `for await (const line of haft.stream("make"))`. */
  stream(script: string, { timeout = DEFAULT_TIMEOUT, ...options }: JobOptions = {}): LineStream {
    return new LineStream(this.connection, this.start(script, options), timeout, options.signal);
  }

  async #runToEnd(script: string, options: JobOptions): Promise<Result> {
    // Otherwise a call with a terminal returns when a program waits for input.
    const until = options.pty ? { until: {} } : {};
    const args = { ...runArguments(script, options, this.sessionName), ...until };
    return new Result(this.connection, await callForAnswer(this.connection, "run", args, options.signal));
  }

  async #runWithLines(script: string, options: JobOptions, onLine: NonNullable<RunOptions["onLine"]>): Promise<Result> {
    const lines = this.stream(script, options);
    for await (const line of lines) await onLine(line);
    return lines.result();
  }
}

/** Scripts that share variables, functions, options and the working directory. */
export class Session extends Shell {
  /** @internal */
  constructor(
    connection: Connection,
    /** The name of the session. */
    readonly name: string,
  ) {
    super(connection, name);
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await callForAnswer(this.connection, "run", { script: ":", session: this.name, end_session: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A running haft. Any number of calls may use it at the same time. */
export class Haft extends Shell {
  #sessions = 0;

  private constructor(connection: Connection) {
    super(connection);
  }

  /** Starts `haft mcp`. */
  static async start(options: HaftOptions = {}): Promise<Haft> {
    const { binary, cwd, env, onLog } = options;
    if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw new HaftError(`'${cwd}' is not a directory`);
    }
    const connection = new Connection(findBinary(binary), serverArguments(options), { cwd, env, onLog });
    const clientInfo = { name: "haft-typescript", version };
    try {
      await connection.request("initialize", { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo });
    } catch (error) {
      await connection.close();
      throw error;
    }
    connection.notify("notifications/initialized");
    return new Haft(connection);
  }

  /** The process id of the server. */
  get pid(): number {
    return this.connection.pid;
  }

  /** A session: scripts that share variables, functions, options and the working directory. */
  session(name?: string): Session {
    return new Session(this.connection, name ?? `session-${++this.#sessions}`);
  }

  /** All tools that the server offers. */
  async tools(): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    do {
      const reply = await this.connection.request("tools/list", cursor ? { cursor } : {});
      tools.push(...(reply.tools as Tool[]));
      cursor = reply.nextCursor as string | undefined;
    } while (cursor);
    return tools;
  }

  /** Calls a tool. Throws {@link ToolError} if it fails. */
  call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ToolResult> {
    return call(this.connection, name, args, options.signal);
  }

  /** The overlay with this id. */
  overlay(id: string): Overlay {
    return new Overlay(this.connection, id);
  }

  /** The overlays that this client opened and that still exist. */
  async overlays(): Promise<Overlay[]> {
    const { data } = await this.call("changes", { action: "list" });
    return (data.overlays as { overlay: { id: string } }[]).map((entry) => this.overlay(entry.overlay.id));
  }

  /** Ends the server with everything it runs. */
  close(): Promise<void> {
    return this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
