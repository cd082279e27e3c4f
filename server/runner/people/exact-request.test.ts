import { expect, test } from "vitest";
import { z } from "zod";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { inputFields } from "@/server/domain/graph/run-input";
import type { ChatMessage, RunEvent } from "@/server/domain/run/events";
import { findingsOf } from "@/server/domain/run/findings";
import { asSent } from "@/server/domain/run/past/as-sent";
import { draw } from "@/server/domain/testing/drawing";
import type { Models } from "@/server/llm/model";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { defineTool } from "@/server/tools/define";
import { cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import { fakeTools, newStage } from "../testing";

// "What did this agent know here": the prompt of a call, made of the log alone, is the one that its model was sent.

/** The models, with what each call was sent by its id. */
function listening(models: Models): { models: Models; sent: Map<string, ChatMessage[]> } {
  const sent = new Map<string, ChatMessage[]>();
  return {
    sent,
    models: {
      ...models,
      complete(request, io) {
        // What a service wants back with its own message, nobody reads.
        const messages = request.messages.map(({ carried: _sealed, ...message }) => message);
        sent.set(request.call_id, structuredClone(messages));
        return models.complete(request, io);
      },
    },
  };
}

function messagesAsSent(events: readonly RunEvent[], sent: ReadonlyMap<string, ChatMessage[]>) {
  return Object.fromEntries([...sent.keys()].map((id) => [id, asSent(events, id)?.messages]));
}

const offline = () =>
  newModels({ providers: memoryProviders([offlineProvider]), offlineFetch: newOfflineFetch({ speed: 0 }) });

test.each(templates.map(({ key, graph }) => [key, graph] as const))(
  "the prompts rebuilt for template %s match those sent, and no diagnostic is reported",
  async (_key, graph) => {
    const { models, sent } = listening(offline());
    const input = Object.fromEntries(inputFields(graph).map(({ key }) => [key, "Approve my vacation."]));
    const stage = newStage({ models });
    const id = stage.start(graph, { input, roles: builtinRoles });
    const standing = () => stage.store.find(id)?.status ?? "";
    await expect.poll(standing, { timeout: 15_000 }).toMatch(/waiting|finished/);
    // A person takes the first way that a gate offers.
    for (const { id: asked, requested } of Object.values(stage.store.state(id)?.interactions ?? {})) {
      const option = requested.options?.[0]?.value ?? "approved";
      stage.host.steering.answer(id, asked, requested.fingerprint, { answer: "chosen", option, by: "ann" });
    }
    await stage.host.settled(id);
    const events = stage.store.events(id, 0, 1e6);
    expect(findingsOf(events)).toEqual([]);
    expect(sent.size).toBeGreaterThan(0);
    expect(messagesAsSent(events, sent)).toEqual(Object.fromEntries(sent));
    expect([...sent.keys()].map((id) => asSent(events, id)?.doubt)).toEqual(
      [...sent.keys()].map(() => undefined),
    );
  },
);

test.each(Object.entries(cases))("a crew (%s): every prompt is the one that was sent", async (_name, one) => {
  const { models, sent } = listening(modelsOf(one.answer));
  const { events } = await newStage({ models }).run(graphOf(one), { roles: crewRoles });
  expect(messagesAsSent(events, sent)).toEqual(Object.fromEntries(sent));
});

const read = defineTool({
  name: "read",
  description: "Reads a page",
  input: z.object({ page: z.number() }),
  source: "builtin",
  risk: "LOW",
  read_only: true,
  execute: ({ page }) => `page ${page}: ${"all about bees ".repeat(400)}`,
});
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Reader", task_description_template: "read all of it" },
  },
});
const pages = (count: number): ScriptedStep[] =>
  Array.from({ length: count }, (_, page) => ({ tool_calls: [{ tool_name: "read", args: { page } }] }));
const roles = [RoleDefinition.parse({ name: "Reader", tools: ["read"] })];

test("a condensed conversation is shown as short as the model received it", async () => {
  const { models, sent } = listening(newScriptedModels([...pages(5), { text: "Bees." }]));
  const { events } = await newStage({ models, tools: fakeTools([read]) }).run(graph, {
    roles,
    windows: { "/": 8_000 },
  });
  expect(events.filter(({ type }) => type === "context_condensed").length).toBeGreaterThan(0);
  expect(messagesAsSent(events, sent)).toEqual(Object.fromEntries(sent));
  const last = asSent(events, [...sent.keys()].at(-1) ?? "");
  expect([last?.tools.includes("read"), (last?.condensed ?? 0) > 0, last?.doubt]).toEqual([
    true,
    true,
    undefined,
  ]);
});

test("a prompt that no event stores is reported as missing: the prompt of a guardrail's judge", async () => {
  const judged = RoleDefinition.parse({
    name: "Reader",
    guardrails: [{ name: "kind", target: "output", kind: "llm_judge", spec: "It is kind.", on_fail: "warn" }],
  });
  const verdict: ScriptedStep = { json: { ok: true, reason: "kind" } };
  const { models, sent } = listening(newScriptedModels([{ text: "Bees." }, verdict]));
  const { events } = await newStage({ models }).run(graph, { roles: [judged] });
  const [own, judge] = [...sent.keys()].map((id) => asSent(events, id));
  expect(own?.doubt).toBeUndefined();
  expect([judge?.messages, judge?.doubt]).toEqual([
    [],
    expect.stringContaining("A guardrail was checked here: its judge's prompt is not in the log"),
  ]);
  expect(asSent(events, "nobody")).toBeNull();
});

test("a summarized conversation is shown with its summary and the source of the summary", async () => {
  let page = 0;
  const scripted = modelsOf(({ messages }) =>
    messages.at(-1)?.content.startsWith("<conversation>")
      ? { text: "COMPLETED: pages of bees." }
      : page < 14
        ? { tool_calls: [{ tool_name: "read", args: { page: page++ } }] }
        : { text: "Bees." },
  );
  const { models, sent } = listening(scripted);
  const { events } = await newStage({ models, tools: fakeTools([read]) }).run(graph, {
    roles,
    config: { max_steps: 100 },
    windows: { "/": 6_500 },
  });
  const kinds = events.flatMap((event) => (event.type === "context_condensed" ? [event.payload.kind] : []));
  expect(kinds).toContain("summarised");
  const calls = [...sent].filter(([id]) => !id.includes("/summary"));
  const results = calls.map(([id]) => asSent(events, id));
  expect(results.map((one) => one?.messages)).toEqual(calls.map(([, messages]) => messages));
  const [summary] = [...sent].filter(([id]) => id.includes("/summary"));
  const asked = asSent(events, summary?.[0] ?? "");
  expect([asked?.messages.length, asked?.tools, asked?.doubt]).toEqual([
    2,
    [],
    expect.stringContaining("The maximum length of the summary is not in the log; the rest is exact"),
  ]);
  expect(asked?.messages[1]).toEqual(summary?.[1][1]);
});
