import { asJson } from "@/server/domain/base/json";
import { namedError } from "@/server/domain/base/named-error";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { ToolOutput } from "@/server/domain/tool/tool";
import type { ToolInterface, ToolScope } from "./define";
import type { OperatorFile, OperatorTool } from "./operator/file";
import { operatorSpec } from "./operator/tools";
import { checkBySchema } from "./schema-check";

/** A tool or MCP server that runs on workers: its kind, its name, and their label. */
export interface AtWorkers {
  kind: "tool" | "mcp";
  name: string;
  label: string;
}

/** A connection to a program at a worker, message by message. */
export interface WorkerChannel {
  send(message: Json): void;
  /** Closes it; `closed` is no longer called. */
  close(): void;
}

export interface ChannelHandler {
  message(message: Json): void;
  /** The other side closed it; why, as a message. */
  closed(why: string): void;
}

/** The way to workers by their labels. */
export interface WorkerChannels {
  /** Why it can't run now, as a message that names the label; null if it can, or may soon. */
  whyNot(what: AtWorkers): string | null;
  /**
   * Waits a moment for a worker that has it. Throws NoSuchWorker. `key`: the same goes to the same worker while that is there.
   * `call`: the message that will be sent; a worker that got the very same before is preferred.
   */
  open(
    what: AtWorkers,
    key: string,
    end: ChannelHandler,
    signal?: AbortSignal,
    call?: Json,
  ): Promise<WorkerChannel>;
  /** Tells every worker that has it. */
  broadcast(what: AtWorkers, message: JsonObject): void;
  /** Calls back when something that has that name may be reached from now on. */
  onThere(listener: (what: Pick<AtWorkers, "kind" | "name">) => void): void;
}

/** No worker can run it; the message is for people. */
export class NoSuchWorker extends namedError("NoSuchWorker") {}

/** The message for a tool whose label no worker has. */
export const noWorkerText = ({ kind, name, label }: AtWorkers): string =>
  `${kind === "mcp" ? `The MCP server "${name}"` : name} runs on a worker with the label "${label}", and none is online. Start one with TROUPE_WORKER_LABELS=${label}.`;

/** Of a server without workers. */
export const NO_WORKER_CHANNELS: WorkerChannels = {
  whyNot: noWorkerText,
  open: (what) => Promise.reject(new NoSuchWorker(noWorkerText(what))),
  broadcast: () => {},
  onThere: () => {},
};

/** What of its scope travels with a call. */
export const sentScope = ({ signal: _, ...scope }: ToolScope): Json => asJson(scope);

/** The server's side of a tool in the operator's file that only workers with its label run. */
export function toolAtWorkers(
  tool: OperatorTool & { worker_label: string },
  lines: WorkerChannels,
): ToolInterface {
  const what: AtWorkers = { kind: "tool", name: tool.name, label: tool.worker_label };
  // Its worker keeps a call by its key: one that is asked for again after a restart of the server is the same call.
  const spec = operatorSpec({ on_crash: "repeat", ...tool });
  return {
    get spec() {
      const reason = lines.whyNot(what);
      return reason === null ? spec : { ...spec, unavailable: reason };
    },
    check: (args) => checkBySchema(tool.input, args),
    execute: (input, scope) => callAtWorker(lines, what, Json.parse(input), scope),
    ...(tool.type === "python_session"
      ? { endTask: ({ run, agent }) => lines.broadcast(what, { end_task: asJson({ run, agent }) }) }
      : {}),
  };
}

async function callAtWorker(
  lines: WorkerChannels,
  what: AtWorkers,
  args: Json,
  scope: ToolScope,
): Promise<ToolOutput> {
  const { signal, run, idempotencyKey } = scope;
  const call: Json = { args, scope: sentScope(scope) };
  let settle: (output: ToolOutput) => void = () => {};
  const answer = new Promise<ToolOutput>((resolve) => (settle = resolve));
  try {
    const channel = await lines.open(
      what,
      run?.id ?? idempotencyKey,
      {
        message(output) {
          const read = ToolOutput.safeParse(output);
          settle(read.data ?? { status_code: 500, error: `${what.name} returned an invalid result.` });
        },
        closed: (why) => settle({ status_code: 503, error: `${what.name}: ${why}` }),
      },
      signal,
      call,
    );
    const stopped = () => settle({ status_code: 408, error: `${what.name} was stopped.` });
    signal.addEventListener("abort", stopped, { once: true });
    if (signal.aborted) stopped();
    channel.send(call);
    const output = await answer;
    signal.removeEventListener("abort", stopped);
    channel.close();
    return output;
  } catch (error) {
    if (error instanceof NoSuchWorker) return { status_code: 503, error: error.message };
    throw error;
  }
}

/** The entries of the operator's file that run on workers with these labels, and not on the server. */
export function partFor(file: OperatorFile, labels: readonly string[]): OperatorFile {
  const isHere = ({ worker_label: label }: { worker_label?: string | undefined }) =>
    label !== undefined && labels.includes(label);
  return { ...file, tools: file.tools.filter(isHere), mcp_servers: file.mcp_servers.filter(isHere) };
}
