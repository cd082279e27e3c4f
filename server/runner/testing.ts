import { type Db, openDb } from "@/db/open";
import type { RunEvent } from "@/server/domain/events";
import type { WorkflowGraph } from "@/server/domain/graph";
import { RunConfig } from "@/server/domain/outcome";
import { RoleDefinition } from "@/server/domain/role";
import type { JsonObject } from "@/server/domain/values";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { newRunStore } from "@/server/store/runs";
import { Host } from "./host";

/** Models for tests: `answer` says what each call gives; a thrown error is the call's failure. */
export function fakeModels(
  answer: (request: ModelRequest, signal: AbortSignal) => Promise<string> | string,
): Models & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async complete(request, io): Promise<ModelAnswer> {
      requests.push(request);
      const content = await answer(request, io.signal);
      io.delta("content", 0, content);
      return {
        content,
        finish_reason: "stop",
        provider: "Fake",
        provider_id: "fake",
        model: "fake-1",
        simulated: true,
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          cached_input_tokens: 0,
          reasoning_tokens: 0,
          requests: 1,
          estimated: false,
        },
        cost_usd: 0.001,
        cost_source: "simulated",
        latency_ms: 1,
        ttft_ms: 1,
        response_format: "text",
      };
    },
    describe: () => ({
      provider_id: "fake",
      name: "Fake",
      model: "fake-1",
      simulated: true,
      price_known: true,
    }),
  };
}

export const role = (name: string): RoleDefinition => RoleDefinition.parse({ name });

/** A server in miniature: a database in memory and a host on it. */
export function newStage(options: { models?: Models; db?: Db; maxRuns?: number } = {}) {
  const db = options.db ?? openDb(":memory:");
  const store = newRunStore(db);
  const host = new Host({
    store,
    effects: { models: options.models ?? fakeModels(() => "done") },
    ...(options.maxRuns ? { maxRuns: options.maxRuns } : {}),
  });
  return {
    db,
    store,
    host,
    start(
      graph: WorkflowGraph,
      more: {
        input?: JsonObject;
        config?: Partial<RunConfig>;
        roles?: readonly RoleDefinition[];
        key?: string;
        workflow?: string;
      } = {},
    ): string {
      return host.start({
        workflow_id: more.workflow ?? "wf_test",
        workflow_name: "Test",
        graph,
        roles: [...(more.roles ?? [])],
        input: more.input ?? {},
        config: RunConfig.parse({ ...graph.config, ...more.config }),
        trigger: "test",
        provider_summary: null,
        ...(more.key ? { idempotency_key: more.key } : {}),
      }).run_id;
    },
    /** Starts a run and waits until it has left the process. */
    async run(graph: WorkflowGraph, more: Parameters<typeof this.start>[1] = {}) {
      const id = this.start(graph, more);
      await host.settled(id);
      return { id, events: store.events(id, 0, 1e6), state: store.state(id)! };
    },
  };
}

/** Events without what differs between runs. */
export const told = (events: readonly RunEvent[]) =>
  events.map(({ type, node_id, activation_id }) =>
    [type, activation_id ?? node_id].filter(Boolean).join(" "),
  );
