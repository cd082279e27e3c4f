import { randomBytes } from "node:crypto";
import { emptyDb } from "@/db/testing";
import { knock, newControlFetch } from "@/server/egress/control";
import { redactJson } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { newProviderSnapshots } from "@/server/store/provider-snapshot";
import { ProviderStore } from "@/server/store/providers";
import { keepResult } from "@/server/store/runs/tool-results";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { builtinTools } from "@/server/tools/builtin";
import type { ToolInterface } from "@/server/tools/define";
import { newToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";
import { runWithCalls } from "@/server/tools/sandbox/sandbox";
import { CallsOnce, TIMES } from "./calls-once";
import { InternalApi } from "./internal-api";
import { type InternalParts, internalRoutes } from "./internal-routes";
import { LEASE_MS } from "./leases";
import { newControlClient } from "./worker/control-client";
import { WorkerConnections } from "./worker-connections";
import { learn, SharedLimits } from "./worker-port";
import { Workers } from "./workers";

export const TOKEN = "a-token-that-server-and-workers-have";
export const SECRET_KEY = randomBytes(32).toString("base64");

/** A server's side of the workers' port, with a database, tools and providers of its own; what it hears of runs is noted. */
export function newControlSide(
  options: { more?: ToolInterface[]; tools?: (lines: WorkerConnections) => ToolInterface[] } = {},
) {
  const db = emptyDb();
  const env = { TROUPE_SECRET_KEY: SECRET_KEY };
  const sealer = newSealer(null, env);
  const providers = new ProviderStore(db, sealer, env);
  const snapshots = newProviderSnapshots(db, { store: providers, sealer, env });
  const limits = new SharedLimits(db, providers);
  const workers = new Workers({
    leases: limits.leases,
    leaseMs: LEASE_MS,
    providersVersion: snapshots.version,
    knock,
  });
  // Whoever is not there now does not come in a test.
  const lines = new WorkerConnections({ holdMs: 500, goneMs: 1_000, waitMs: 1_000 });
  const workspace = new WorkspaceStore(db);
  const memories = new MemoryStore(db);
  const nothing = () => Promise.reject(new Error("no network in this test"));
  const registry = new ToolsRegistry();
  registry.replace(
    [],
    [
      ...builtinTools({
        workspace,
        memories,
        web: { fetch: nothing },
        search: { backendFor: () => null, fetch: nothing },
      }),
      ...(options.more ?? []),
      ...(options.tools?.(lines) ?? []),
    ],
  );
  const keep = keepResult(workspace);
  const tools = newToolHost({
    registry,
    keep,
    forget: (place) => memories.forget(place),
    role: (name) => (name === "Writer" ? { tools: ["file_write"] } : undefined),
    matches: matchesSafely,
    runCode: (program, signal) => runWithCalls(program, { signal }),
  });
  const heard: { news: unknown[]; live: unknown[] } = { news: [], live: [] };
  const parts: InternalParts = {
    runs: {
      async receive(news) {
        heard.news.push(news);
      },
      taken: (hold) => void heard.news.push({ taken: hold }),
      isHeld: ({ worker }) => worker === "holder",
      journal: (runId, segment) => (runId === "run_a" && segment === 2 ? { turns: [], timers: [] } : null),
      live: (news) => void heard.live.push(news),
    },
    tools,
    keep,
    redact: redactJson,
    providers: {
      ...snapshots,
      learn: (lesson) => learn(providers, lesson),
    },
    workers,
    lines,
  };
  const logged: string[] = [];
  let api = newApi();
  let port = 0;
  function newApi() {
    return new InternalApi({
      token: TOKEN,
      routes: internalRoutes({ ...parts, calls: new CallsOnce({ ...TIMES, graceMs: 1_000 }) }),
      log: (_level, message) => void logged.push(message),
    });
  }
  return {
    db,
    providers,
    snapshots,
    limits,
    workers,
    lines,
    tools,
    workspace,
    sealer,
    heard,
    logged,
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    async start() {
      limits.start();
      port = await api.listen(port, "127.0.0.1");
    },
    /** The server is gone, as after a kill. */
    async stop() {
      limits.stop();
      lines.stop();
      await api.close();
      api = newApi();
    },
    /** The network fails for a moment; the server lives on. */
    loseConnections: () => api.server.closeAllConnections(),
    client: () => newControlClient({ fetch: newControlFetch(`http://127.0.0.1:${port}`), token: TOKEN }),
  };
}

export type ControlSide = ReturnType<typeof newControlSide>;
