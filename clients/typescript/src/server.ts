/** The command line of the server. */

/** Options of a client. Those of `haft mcp` hold for every call. */
export interface HaftOptions {
  /** The program. Default: `HAFT_BINARY`, the packaged binary, or the first `haft` in `PATH`. */
  binary?: string;
  /** The directory of the project. */
  cwd?: string;
  /** Additional environment variables. */
  env?: Record<string, string>;
  /** Receives the lines of the server's log. */
  onLog?: (line: string) => void;
  /** Run everything in one overlay: of the project, or of these directories. */
  overlay?: boolean | string | readonly string[];
  /** The name of that overlay. */
  overlayName?: string;
  /** Who may commit the overlays of single scripts. */
  overlayCommit?: "agent" | "person";
  /** Variables that look like keys, and that scripts receive nevertheless. */
  envAllow?: readonly string[];
  /** Further tools to offer, such as `check` and `plan`; `all` offers every tool. */
  tools?: readonly string[];
  /** Offer only the tools of this toolset, besides haft's own. */
  toolset?: string;
  /** Bytes of memory of each script and its programs. */
  limitMemory?: number;
  /** Seconds of CPU time of each program. */
  limitCpu?: number;
  /** Processes and threads of each script at once. */
  limitProcesses?: number;
  /** Bytes of changed files in an overlay. */
  limitDisk?: number;
  /** Further arguments of `haft mcp`. */
  args?: readonly string[];
}

/** The arguments that start the server. */
export function serverArguments(options: HaftOptions): string[] {
  const single: [string, string | number | undefined][] = [
    ["--overlay-name", options.overlayName],
    ["--overlay-commit", options.overlayCommit],
    ["--tools", options.tools?.length ? options.tools.join(",") : undefined],
    ["--toolset", options.toolset],
    ["--limit-memory", options.limitMemory],
    ["--limit-cpu", options.limitCpu === undefined ? undefined : `${options.limitCpu}s`],
    ["--limit-processes", options.limitProcesses],
    ["--limit-disk", options.limitDisk],
  ];
  return [
    "mcp",
    "--detail",
    "full",
    ...overlays(options.overlay),
    ...single.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value}`),
    ...(options.envAllow ?? []).map((name) => `--env-allow=${name}`),
    ...(options.args ?? []),
  ];
}

function overlays(overlay: HaftOptions["overlay"]): string[] {
  if (typeof overlay === "boolean" || overlay === undefined) return overlay ? ["--overlay"] : [];
  return (typeof overlay === "string" ? [overlay] : overlay).map((place) => `--overlay=${place}`);
}
