import { expect, test } from "vitest";
import { z } from "zod";
import { newScriptedStage, of, role, tool } from "@/server/conformance/stage";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";

const task = (text: string) =>
  draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Worker", task_description_template: text },
    },
  });
const memory = (value: string, key = "bees") => ({
  key,
  scope: "project",
  value,
  updated_at: "2026-01-02T03:04:05.000Z",
});

/** What an agent that may search memory is told of it, where that finds this. */
async function recalled(
  found: Json | Error,
  { text = "Count the bees", more = {} }: { text?: string; more?: object } = {},
) {
  const search = tool("search_memory", {
    input: z.object({ query: z.string(), k: z.number() }),
    execute: () => {
      if (found instanceof Error) throw found;
      return found;
    },
    ...more,
  });
  const stage = newScriptedStage([{ text: "done" }], [search]);
  const { events, state } = await stage.run(task(text), { roles: [role("Worker", ["search_memory"])] });
  const sent = stage.models.calls[0]!.messages.map(({ content }) => content).join("\n");
  return {
    args: of(events, "tool_call_started").map(({ args }): JsonObject => args),
    text: /From memory; it may be[\s\S]*?<\/memory>/.exec(sent)?.[0] ?? null,
    tainted: state.taint_sources,
  };
}

test("memories are included in the first message with their origin", async () => {
  expect(await recalled({ memories: [memory("They hum."), memory("Or not.", "doubt")] })).toEqual({
    args: [{ query: "Count the bees", k: 5 }],
    text: `From memory; it may be outdated or wrong, and retrieve_memory returns the full text of truncated values:
<memory>
<value key="bees" scope="project" from="2026-01-02">They hum.</value>
<value key="doubt" scope="project" from="2026-01-02">Or not.</value>
</memory>`,
    tainted: [],
  });
});

test("a memory of more than 600 characters is truncated", async () => {
  expect((await recalled({ memories: [memory("x".repeat(600))] })).text).toContain(`\n${"x".repeat(600)}\n`);
  expect((await recalled({ memories: [memory("x".repeat(601))] })).text).toContain(
    `\n${"x".repeat(600)} […]\n`,
  );
});

test("memory is searched with the first 1000 characters of the task", async () => {
  const { args } = await recalled({ memories: [] }, { text: "y".repeat(1200) });
  expect(args).toEqual([{ query: "y".repeat(1000), k: 5 }]);
});

test("recalling untrusted memories taints the run", async () => {
  expect((await recalled({ memories: [memory("x")] }, { more: { taints: true } })).tainted).toEqual([
    "search_memory",
  ]);
  expect((await recalled({ memories: [] }, { more: { taints: true } })).tainted).toEqual([]);
});

test.each<[string, Json | Error]>([
  ["nothing is found", { memories: [] }],
  ["the search fails", new Error("gone")],
  ["the result contains no valid memory", { memories: [{ key: "bees" }] }],
  ["the result is not a list", "bees"],
])("an agent works without memories if %s", async (_what, found) => {
  expect((await recalled(found)).text).toBeNull();
});
