/** A running `haft mcp` and the messages to and from it. */

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";

import { BinaryNotFound, ClientClosed, type HaftError, ProtocolError, ServerDied } from "./errors.js";

const MAX_LOG_LINES = 20;
/** The server itself ends within a second after its input has ended. */
const CLOSE_MILLISECONDS = 5000;
const METHOD_NOT_FOUND = -32601;

interface Message {
  id?: number;
  method?: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

interface Pending {
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: unknown) => void;
}

/** Options of a connection. */
export interface ConnectionOptions {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  onLog?: ((line: string) => void) | undefined;
}

/** Starts a server and exchanges messages with it. It keeps the event loop alive only while a request waits. */
export class Connection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #program: string;
  readonly #pending = new Map<number, Pending>();
  readonly #log: string[] = [];
  readonly #exited: Promise<unknown>;
  #nextId = 1;
  #failure: HaftError | undefined;

  constructor(program: string, args: string[], options: ConnectionOptions) {
    this.#program = program;
    const env = { ...process.env, ...options.env };
    // A session of its own: Ctrl-C on the terminal must reach the client only.
    this.#child = spawn(program, args, { cwd: options.cwd, env, detached: true, stdio: "pipe" });
    this.#exited = once(this.#child, "close").catch(() => undefined);
    this.#child.on("error", (error) => this.#fail(new BinaryNotFound(`cannot start '${program}': ${error.message}`)));
    this.#child.on("close", (status, signal) => this.#fail(new ServerDied(status, signal, this.#log)));
    // The end of the server is reported by its output.
    this.#child.stdin.on("error", () => undefined);
    readLines(this.#child.stdout, (line) => this.#receive(line));
    readLines(this.#child.stderr, (line) => {
      this.#log.push(line);
      if (this.#log.length > MAX_LOG_LINES) this.#log.shift();
      options.onLog?.(line);
    });
    this.#keepAlive(false);
  }

  /** The process id of the server. */
  get pid(): number {
    if (this.#child.pid === undefined) throw new BinaryNotFound(`cannot start '${this.#program}'`);
    return this.#child.pid;
  }

  /** Sends a request and returns its result. A signal cancels it; then the server ends the processes of the call. */
  async request(method: string, params: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    signal?.throwIfAborted();
    if (this.#failure) throw this.#failure;
    const id = this.#nextId++;
    let abort: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        this.#keepAlive(true);
        this.#send({ jsonrpc: "2.0", id, method, params });
        abort = () => {
          this.notify("notifications/cancelled", { requestId: id, reason: "cancelled by the caller" });
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", abort);
      });
    } finally {
      if (abort) signal?.removeEventListener("abort", abort);
      this.#pending.delete(id);
      this.#keepAlive(this.#pending.size > 0);
    }
  }

  /** Sends a notification. */
  notify(method: string, params?: object): void {
    this.#send(params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method });
  }

  /** Ends the server with everything it runs, and waits until it has ended. */
  async close(): Promise<void> {
    this.#fail(new ClientClosed("the client is closed"));
    this.#child.ref();
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_MILLISECONDS);
    await this.#exited;
    clearTimeout(timer);
  }

  #send(message: object): void {
    if (!this.#child.stdin.destroyed) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #receive(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch (error) {
      this.#fail(new ProtocolError(`the server sent an invalid message: ${String(error)}`));
      this.#child.kill("SIGKILL");
      return;
    }
    if (message.method !== undefined) this.#answer(message);
    else if (message.error) this.#take(message.id)?.reject(new ProtocolError(message.error.message, message.error.code));
    else this.#take(message.id)?.resolve(message.result ?? {});
  }

  #take(id: number | undefined): Pending | undefined {
    return id === undefined ? undefined : this.#pending.get(id);
  }

  /** Answers a request of the server. A client without capabilities receives none but pings. */
  #answer({ id, method }: Message): void {
    if (id === undefined) return;
    const error = { code: METHOD_NOT_FOUND, message: `unknown method '${method}'` };
    this.#send(method === "ping" ? { jsonrpc: "2.0", id, result: {} } : { jsonrpc: "2.0", id, error });
  }

  /** Fails all requests, now and from now on. The first failure counts. */
  #fail(failure: HaftError): void {
    this.#failure ??= failure;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
  }

  #keepAlive(wanted: boolean): void {
    for (const handle of [this.#child, this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      // The pipes of a child process are sockets.
      if (handle === this.#child || handle instanceof Socket) {
        const target = handle as Socket;
        wanted ? target.ref() : target.unref();
      }
    }
  }
}

/** Calls a function with every line, without its end. */
function readLines(stream: NodeJS.ReadableStream, receive: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  stream.on("data", (chunk: Buffer) => {
    const [first, ...others] = decoder.write(chunk).split("\n");
    parts.push(first ?? "");
    for (const other of others) {
      receive(parts.join(""));
      parts = [other];
    }
  });
}
