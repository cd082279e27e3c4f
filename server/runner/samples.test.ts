import { describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { JsonObject } from "@/server/domain/base/values";
import { inputFields } from "@/server/domain/graph/run-input";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import type { ModelRequest, Models } from "@/server/llm/model";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { readPrompt } from "@/server/llm/offline/prompt";
import { writtenFor } from "@/server/llm/offline/samples";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { type Template, templates } from "@/server/templates";
import { builtinTools } from "@/server/tools/builtin";
import { fakeTools, newStage } from "./testing";

const of = <T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): RunEventOf<T>["payload"][] =>
  events.flatMap((event) => (event.type === type ? [event.payload as RunEventOf<T>["payload"]] : []));

/** The input that a template suggests. */
const suggested = ({ graph }: Template): Record<string, string> =>
  Object.fromEntries(
    inputFields(graph).map(({ key, schema }) => [
      key,
      (schema.examples as string[] | undefined)?.[0] ?? (schema.default as string),
    ]),
  );

/** Runs a template on the offline demo model with the tools that come with it. */
async function play(template: Template, input: JsonObject = suggested(template)) {
  const db = emptyDb();
  const unreachable = () => Promise.reject(new Error("Nobody is asked."));
  const tools = fakeTools(
    builtinTools({
      workspace: new WorkspaceStore(db),
      memories: new MemoryStore(db),
      web: { fetch: unreachable },
      search: { backendFor: () => ({ kind: "demo", base_url: "", key: null }), fetch: unreachable },
    }),
  );
  const offline = newModels({
    providers: memoryProviders([offlineProvider]),
    offlineFetch: newOfflineFetch({ speed: 0 }),
  });
  const asked: ModelRequest[] = [];
  const models: Models = {
    ...offline,
    complete(request, io) {
      asked.push(request);
      return offline.complete(request, io);
    },
  };
  const stage = newStage({ db, models, tools });
  // Only a node of the graph may ask a person.
  const agrees = Object.values(template.graph.nodes).some(({ node_type }) => node_type === "approval_gate");
  return { ...(await stage.run(template.graph, { input, roles: builtinRoles, agrees })), asked };
}
const named = (key: string) => templates.find((template) => template.key === key)!;

describe("the suggested input of a template", () => {
  test.each(templates.map((template) => [template.key, template] as const))(
    "the suggested input of %s leads to the same readable run each time",
    async (_key, template) => {
      const { state, events, asked } = await play(template);
      expect(state.run).toMatchObject({ final_status: "COMPLETED", warnings: [], simulated: true });

      for (const { call_id, messages, tools = [] } of asked)
        expect([call_id, writtenFor(readPrompt(messages), tools) !== null]).toEqual([call_id, true]);

      expect(of(events, "interaction_requested").filter(({ kind }) => kind !== "approval")).toEqual([]);

      const answers = of(events, "llm_call_completed");
      expect(answers).toHaveLength(asked.length);
      for (const { content, tool_calls = [], finish_reason, simulated, provider, model } of answers) {
        expect(content.length + tool_calls.length).toBeGreaterThan(0);
        expect(finish_reason).not.toBe("length");
        // The source of an answer is recorded in its metadata, not in its text.
        expect({ simulated, provider, model }).toEqual({
          simulated: true,
          provider: "Offline demo (scripted, not an AI)",
          model: "offline-demo",
        });
        expect(content).not.toMatch(/offline demo|this demo|Received keys|simulated/i);
      }
      for (const { tool_name, status_code } of of(events, "tool_call_completed"))
        expect([tool_name, status_code]).toEqual([tool_name, 200]);

      const again = await play(template);
      expect(again.state.state).toEqual(state.state);
    },
  );

  test("the suggested input of each template is short and different", () => {
    const firsts = templates.map((template) => Object.values(suggested(template))[0] ?? "");
    expect(new Set(firsts).size).toBe(templates.length);
    for (const text of firsts) expect(text.length).toBeLessThan(90);
  });
});

describe("answers of the demo model", () => {
  test("the demo model takes up a comment on a decision", async () => {
    const { graph } = named("approval-by-person");
    const offline = newModels({
      providers: memoryProviders([offlineProvider]),
      offlineFetch: newOfflineFetch({ speed: 0 }),
    });
    const stage = newStage({ models: offline });
    const id = stage.start(graph, { input: suggested(named("approval-by-person")), roles: builtinRoles });
    for await (const frame of stage.host.follow(id, 0)) {
      const asks = frame.kind === "events" ? of(frame.events, "interaction_requested") : [];
      for (const { interaction_id, fingerprint } of asks)
        stage.host.steering.answer(id, interaction_id, fingerprint, {
          answer: "chosen",
          option: "Reject",
          message: "Not this year.",
          by: "ann",
        });
    }
    await stage.host.settled(id);
    expect(stage.store.state(id)?.state.notification_status).toContain("“Not this year.”");
  });

  test("the demo model answers another input with a placeholder", async () => {
    const { state } = await play(named("research-and-write"), {
      topic: "Why cats purr",
      audience: "children",
    });
    expect(state.run).toMatchObject({ final_status: "COMPLETED", warnings: [] });
    expect(state.state.article).toMatch(/^Demo answer of Editor: .*Why cats purr/);
    expect(state.state.article).not.toMatch(/tree/);
  });

  test("the demo model takes up a changed value of a single key", async () => {
    const template = named("research-and-write");
    const { state } = await play(template, { ...suggested(template), audience: "city planners" });
    expect(state.state.draft).toContain("city planners");
  });
});
