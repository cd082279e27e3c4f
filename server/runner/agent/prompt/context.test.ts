import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError, type Models, type Reads } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { cutAt, eventLines, fakeTools, newStage } from "@/server/runner/testing";
import { defineTool } from "@/server/tools/define";

// How much a model reads decides when an agent's conversation is shortened, and it is recorded: whatever is learned
// later, a run that is taken up again goes the way it went.

const LONG = "all about bees ".repeat(400);
const read = defineTool({
  name: "read",
  description: "Reads a page",
  input: z.object({ page: z.number() }),
  source: "builtin",
  risk: "LOW",
  read_only: true,
  execute: ({ page }) => `page ${page}: ${LONG}`,
});
const reader = RoleDefinition.parse({ name: "Reader", tools: ["read"] });
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Reader", task_description_template: "read all of it" },
  },
});
const page = (number: number): ScriptedStep => ({
  tool_calls: [{ tool_name: "read", args: { page: number } }],
});
const PAGES = [page(1), page(2), page(3), page(4), page(5)];

/** Models whose answers say how much they read. */
function reading(steps: readonly ScriptedStep[], reads?: Reads) {
  const scripted = newScriptedModels(steps);
  const models: Models = {
    ...scripted,
    complete: async (request, io) => ({
      ...(await scripted.complete(request, io)),
      ...(reads ? { reads } : {}),
    }),
  };
  return { scripted, ...newStage({ models, tools: fakeTools([read]) }) };
}
const condensed = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "context_condensed" ? [event.payload] : []));
const DONE: ScriptedStep = { text: "Bees." };

test("a large context window needs no condensing", async () => {
  const { events, state } = await reading([...PAGES, DONE]).run(graph, {
    roles: [reader],
    windows: { "/": 100_000 },
  });
  expect(condensed(events)).toEqual([]);
  expect(state.state.answer).toBe("Bees.");
});

test("a context window known at the start applies from the first turn", async () => {
  const stage = reading([...PAGES, DONE]);
  const { events } = await stage.run(graph, { roles: [reader], windows: { "/": 8_000, "p/m": 1_000 } });
  expect(condensed(events)[0]).toMatchObject({ kind: "pruned" });
  expect(condensed(events)[0]!.tokens_before).toBeGreaterThan(6_000 - 1_000);
  // Old pages are cut, the newest ones are whole.
  const last = stage.scripted.calls.at(-1)!.messages.filter(({ role }) => role === "tool");
  expect(last[0]!.content.length).toBeLessThan(600);
  expect(last.at(-1)!.content).toContain(LONG.slice(0, 1_000));
});

test("answers update the context window and the token ratio", async () => {
  const windows = { "/": 100_000 };
  const at = async (reads: Reads) => {
    const { events } = await reading([...PAGES, DONE], reads).run(graph, { roles: [reader], windows });
    return condensed(events).length;
  };
  expect(await at({ context_window: 100_000, token_ratio: 1 })).toBe(0);
  expect(await at({ context_window: 8_000, token_ratio: 1 })).toBeGreaterThan(0);
  expect(await at({ context_window: 12_000, token_ratio: 1 })).toBe(0);
  expect(await at({ context_window: 12_000, token_ratio: 2 })).toBeGreaterThan(0);
});

test("a context window named in an overflow error replaces the known one", async () => {
  const tooLong = new ModelError({
    code: "CONTEXT_OVERFLOW",
    message: "The prompt is longer than the model can read.",
    retryable: false,
    user_action: "edit_graph",
    detail: { context_window: 6_000 },
  });
  const stage = reading([...PAGES, { error: tooLong }, DONE]);
  const { events, state } = await stage.run(graph, { roles: [reader], windows: { "/": 100_000 } });
  expect(state.run.final_status).toBe("COMPLETED");
  expect(condensed(events)).toMatchObject([{ kind: "reset" }]);
  expect(condensed(events)[0]!.tokens_after).toBeLessThan(6_000);
});

test("a recovered run condenses its context exactly as before", async () => {
  const first = reading([...PAGES, DONE], { context_window: 8_000, token_ratio: 1 });
  const whole = await first.run(graph, { roles: [reader], windows: { "/": 100_000 } });
  expect(condensed(whole.events).length).toBeGreaterThan(0);
  const turns = first.db.$client.prepare("select count(*) as n from run_turns").get() as { n: number };
  // The last turns run anew, with models that now say something else.
  const db = cutAt(first, whole.id, turns.n - 2);
  const scripted = newScriptedModels([DONE]);
  const later = newStage({
    db,
    tools: fakeTools([read]),
    models: {
      ...scripted,
      complete: async (request, io) => ({
        ...(await scripted.complete(request, io)),
        reads: { context_window: 1_000_000, token_ratio: 0.25 },
      }),
    },
  });
  later.host.recover();
  await later.host.settled(whole.id);
  const again = later.store.events(whole.id, 0, 1e6);
  expect(later.store.state(whole.id)!.state.answer).toBe("Bees.");
  expect(condensed(again)).toEqual(condensed(whole.events));
  expect(eventLines(again).filter((line) => !line.startsWith("run_recovered"))).toEqual(
    eventLines(whole.events),
  );
});
