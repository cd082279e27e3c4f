import type { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import type { ToolOutput } from "@/server/domain/tool/tool";
import { newMcpFetch } from "@/server/egress/fetch";
import { readSettings } from "@/server/settings";
import type { CustomToolStore } from "@/server/store/library/custom-tools";
import type { McpServerStore } from "@/server/store/library/mcp-servers";
import { NO_WORKER_CHANNELS, toolAtWorkers, type WorkerChannels } from "./at-workers";
import type { ToolInterface } from "./define";
import { McpServers } from "./mcp/servers";
import { NO_OPERATOR_FILE, readOperatorFile } from "./operator/file";
import { exposedRemark, operatorTools } from "./operator/tools";
import { ToolsRegistry } from "./registry";
import { customTool } from "./sandbox/custom-tool";
import { runJavascript } from "./sandbox/run-javascript";

/** The tools that come and go while Troupe runs, and those that its operator declared. */
export interface ToolSources {
  /** Connects to MCP servers. Resolves when each was tried once; it need not be awaited. */
  start(): Promise<void>;
  /** Ends connections and processes. */
  stop(): Promise<void>;
  /** All of them as they are now, also those that cannot be called and say why. No name is there twice. */
  tools(): ToolInterface[];
  /** Calls back when `tools()` may give something else; answers how to stop that. */
  onChange(listener: () => void): () => void;
  readonly customTools: CustomToolStore;
  readonly mcp: McpServers;
  /** TROUPE_ENABLE_CODE. */
  readonly isCodeEnabled: boolean;
  /** What the operator is to know of the tools in their file; null: nothing. */
  remark(): Promise<string | null>;
  /** Whether a new custom tool cannot have this name. */
  isTaken(name: string): boolean;
  /** To be called after every change of `customTools`. */
  customToolsChanged(): void;
  /** Calls a custom tool as it is being written. Gives an output in every case. */
  tryOut(definition: CustomToolDefinition, args: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

export interface ToolSourcesParts {
  customTools: CustomToolStore;
  mcpServers: McpServerStore;
  env?: NodeJS.ProcessEnv;
  /** Names that are taken elsewhere, such as those of built-in tools. */
  reserved?: () => readonly string[];
  /** The way to workers, for what the operator's file wants carried out there. Absent: there are none. */
  lines?: WorkerChannels;
}

/** Reads the operator's file and puts the sources together; nothing is connected yet. Throws SettingsError. */
export function newToolSources(parts: ToolSourcesParts): ToolSources {
  const {
    customTools,
    mcpServers,
    env = process.env,
    reserved = () => [],
    lines = NO_WORKER_CHANNELS,
  } = parts;
  const settings = readSettings(env);
  const isEnabled = settings.TROUPE_ENABLE_CODE;
  const file = settings.TROUPE_TOOLS_FILE
    ? readOperatorFile(settings.TROUPE_TOOLS_FILE, env)
    : NO_OPERATOR_FILE;
  const fixed = [
    ...operatorTools({ ...file, tools: file.tools.filter((tool) => !isAtWorkers(tool)) }, env),
    ...file.tools.filter(isAtWorkers).map((tool) => toolAtWorkers(tool, lines)),
    runJavascript({ isEnabled }),
  ];
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const mcp = new McpServers({
    store: mcpServers,
    declared: file.mcp_servers,
    overrides: file.mcp_tools,
    fetch: newMcpFetch(settings.TROUPE_MCP_ALLOWED_HOSTS),
    lines,
    onChange: notify,
  });
  const isTaken = (name: string) => fixed.some(({ spec }) => spec.name === name) || reserved().includes(name);

  return {
    start: () => mcp.start(),
    stop: () => mcp.stop(),
    tools: () => [
      ...fixed,
      ...customTools
        .list()
        // The operator may have declared a tool of the same name later.
        .filter(({ definition }) => !isTaken(definition.name))
        .map(({ definition, version }) => customTool(definition, { isEnabled, version })),
      ...mcp.tools(),
    ],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    customTools,
    mcp,
    isCodeEnabled: isEnabled,
    remark: () => exposedRemark(file, env),
    isTaken,
    customToolsChanged: notify,
    tryOut(definition, args, signal) {
      const registry = new ToolsRegistry();
      registry.register(customTool(definition, { isEnabled }));
      return registry.invoke(definition.name, args, {
        signal,
        idempotencyKey: `try:${crypto.randomUUID()}`,
        run: null,
        agent: null,
      });
    },
  };
}

const isAtWorkers = <T extends { worker_label?: string | undefined }>(
  declared: T,
): declared is T & { worker_label: string } => declared.worker_label !== undefined;
