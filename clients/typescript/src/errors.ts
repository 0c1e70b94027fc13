/** The errors of this package. All of them are subclasses of {@link HaftError}. */

import type { Result } from "./result.js";

/** The base class of all errors of this package. */
export class HaftError extends Error {
  override name = this.constructor.name;
}

/** The program `haft` was not found, or could not be started. */
export class BinaryNotFound extends HaftError {}

/** The client was closed. */
export class ClientClosed extends HaftError {}

/** `haft mcp` ended while the client was using it. */
export class ServerDied extends HaftError {
  constructor(
    readonly status: number | null,
    readonly signal: string | null,
    readonly log: readonly string[],
  ) {
    const how = signal ? `was ended by ${signal}` : `ended with status ${status}`;
    super(`'haft mcp' ${how}${log.map((line) => `\n  ${line}`).join("")}`);
  }
}

/** The server rejected a request, or sent a message that is not valid. */
export class ProtocolError extends HaftError {
  constructor(
    message: string,
    readonly code?: number,
  ) {
    super(message);
  }
}

/** A tool reported an error. `data` is its structured content. */
export class ToolError extends HaftError {
  constructor(
    readonly tool: string,
    message: string,
    readonly data?: unknown,
  ) {
    super(message.trimEnd());
  }
}

/** A job did not end in time. It continues. */
export class WaitTimeout extends HaftError {}

/** A script that was run with `check` failed. */
export class ScriptError extends HaftError {
  constructor(readonly result: Result) {
    let how = `exited with status ${result.status}`;
    if (result.timedOut) how = "timed out";
    else if (result.signal) how = `was ended by ${result.signal}`;
    const last = (result.stderr || result.stdout).trimEnd().split("\n").pop();
    super(last ? `script ${how}: ${last}` : `script ${how}`);
  }
}
