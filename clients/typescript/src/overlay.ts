/** Copy-on-write views of the project. */

import { call } from "./calls.js";
import type { Connection } from "./connection.js";
import type { Change, ToolResult } from "./types.js";

/** Options of actions that write to the real files. */
export interface CommitOptions {
  /** Overwrite files that changed outside meanwhile. */
  force?: boolean;
}

/** A copy-on-write view of the project, in which scripts can run. */
export class Overlay {
  readonly #connection: Connection;

  constructor(
    connection: Connection,
    /** The id, also for `haft changes`. */
    readonly id: string,
  ) {
    this.#connection = connection;
  }

  /** The changed paths: all, or those in `paths`. */
  async changes(paths?: readonly string[]): Promise<Change[]> {
    return (await this.#act("show", { paths })).data.changes;
  }

  /** The changes as a patch. */
  async diff(paths?: readonly string[]): Promise<string> {
    const result = await this.#act("diff", { paths });
    return result.data.changes.length ? result.text : "";
  }

  /** Writes the changes to the real files and returns their number. */
  async commit(paths?: readonly string[], options: CommitOptions = {}): Promise<number> {
    return (await this.#act("commit", { paths, ...options })).data.paths;
  }

  /** Takes the last commit back and returns the number of its paths. */
  async undo(options: CommitOptions = {}): Promise<number> {
    return (await this.#act("undo", options)).data.paths;
  }

  /** Throws the changes away. */
  async discard(): Promise<void> {
    await this.#act("discard", {});
  }

  #act(action: string, args: object): Promise<ToolResult> {
    return call(this.#connection, "changes", { action, id: this.id, ...args });
  }
}
