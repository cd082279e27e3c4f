import { z } from "zod";
import { errorMessage } from "@/server/domain/base/guards";
import { Json } from "@/server/domain/base/values";
import type { ToolInterface } from "@/server/tools/define";
import type { OperatorFile } from "@/server/tools/operator/file";
import { ToolsRegistry } from "@/server/tools/registry";
import { CallsOnce, TIMES } from "../calls-once";
import { CallerBody, InvokeBody } from "../worker-protocol";

/** Where what a program at this worker says goes. */
export interface Out {
  message(message: Json): void;
  /** It has ended; why, in words. */
  closed(why: string): void;
}

/** A program at this worker, as the server talks to it. */
export interface In {
  message(message: Json): void;
  /** The server wants no more of it, or, where the line is lost, may ask for the same again. */
  close(isLost: boolean): void;
}

/** What a worker carries out for the server because of its labels. */
export interface Served {
  /** tool:NAME and mcp:NAME. */
  readonly offers: readonly string[];
  /** Calls of tools. The server may be restarted at any moment, and ask for them once more. */
  readonly calls: CallsOnce;
  /** Null: there is no such thing here. */
  open(offer: string, out: Out): In | null;
}

const Call = z.union([
  z.object({ args: Json, scope: InvokeBody.shape.scope }),
  z.object({ end_task: CallerBody }),
]);

/** `mcp_servers`, `tools`: those of the operator's file that are for this worker. */
export function newServed(
  tools: readonly ToolInterface[],
  mcp_servers: OperatorFile["mcp_servers"] = [],
): Served {
  const registry = new ToolsRegistry();
  for (const tool of tools) registry.register(tool);
  const servers = new Map(mcp_servers.map((server) => [server.name, server]));
  const calls = new CallsOnce({ ...TIMES, graceMs: TIMES.keepMs, isTimed: false });
  return {
    calls,
    offers: [
      ...registry.list().map(({ name }) => `tool:${name}`),
      ...[...servers.keys()].map((name) => `mcp:${name}`),
    ],
    open(offer, out) {
      const [kind, name = ""] = offer.split(/:(.*)/s);
      if (kind === "tool") return registry.get(name) ? openTool(registry, name, calls, out) : null;
      const server = servers.get(name);
      return kind === "mcp" && server ? openServer(server, out) : null;
    },
  };
}

function openTool(registry: ToolsRegistry, name: string, calls: CallsOnce, out: Out): In {
  const closed = new AbortController();
  let asked: Json = null;
  return {
    message(message) {
      const read = Call.safeParse(message);
      if (!read.success)
        return out.closed("This worker's version doesn't support this call. Update the worker.");
      if ("end_task" in read.data) return registry.endTask(read.data.end_task);
      const { args, scope } = read.data;
      asked = message;
      void calls
        .run(asked, closed.signal, (signal) => registry.invoke(name, args, { ...scope, signal }))
        .then((output) => {
          if (!closed.signal.aborted) out.message(output);
        });
    },
    close(isLost) {
      closed.abort();
      if (!isLost) calls.cancel(asked);
    },
  };
}

/** Starts the process; what comes before that is done waits. */
function openServer(server: OperatorFile["mcp_servers"][number], out: Out): In {
  const started = (async () => {
    const { messageFrom, newStdioTransport } = await import("@/server/tools/mcp/stdio");
    const { transport, stderrTail } = newStdioTransport(server);
    transport.onmessage = (message) => out.message(Json.parse(message));
    transport.onclose = () => out.closed(stderrTail().slice(-500) || "Its process ended.");
    await transport.start();
    return {
      send: (message: Json) => transport.send(messageFrom(message)),
      close: () => transport.close(),
    };
  })();
  const failed = (error: unknown) => out.closed(errorMessage(error));
  started.catch(failed);
  return {
    message(message) {
      started.then((process) => process.send(message)).catch(failed);
    },
    close() {
      started.then((process) => process.close()).catch(() => {});
    },
  };
}
