import { expect, test } from "vitest";
import { z } from "zod";
import { call, calls, newScriptedStage, of, role, tool } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";

const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "compute it" },
  },
});
const javascript = tool("run_javascript", {
  input: z.object({ code: z.string(), input: z.json().optional() }),
});

/** What an agent's programs gave, one after the other. */
async function ran(...programs: JsonObject[]) {
  const stage = newScriptedStage(
    [...programs.map((args) => calls(call("run_javascript", args))), { text: "done" }],
    [javascript, tool("look"), tool("hide")],
  );
  const { events } = await stage.run(graph, { roles: [role("Worker", ["run_javascript", "look"])] });
  const done = of(events, "tool_call_completed");
  return {
    calls: stage.tools.calls,
    gave: done.flatMap(({ tool_name, status_code, output, error }) =>
      tool_name === "run_javascript" ? [[status_code, output ?? error]] : [],
    ),
  };
}

test("a program returns its result and logs, and its variables are kept for the next program", async () => {
  const { gave } = await ran(
    { code: "globalThis.total = 3; globalThis.f = () => 1; console.log('hi');" },
    { code: "return total + input.more;", input: { more: 4 } },
    { code: "return input;" },
  );
  expect(gave).toEqual([
    [200, { result: null, logs: ["hi"], variables: ["total"], lost: ["f"] }],
    [200, { result: 7, logs: [], variables: ["total"] }],
    [200, { result: null, logs: [], variables: ["total"] }],
  ]);
});

test("calls from a program run in order through the agent's tool pipeline", async () => {
  const { gave, calls: made } = await ran({
    code: 'const a = await call("look", { text: "one" }); const b = await call("look", { text: a }); return b;',
  });
  expect(gave).toEqual([[200, { result: "look of look of one", logs: [] }]]);
  expect(made).toEqual(['Worker look {"text":"one"}', 'Worker look {"text":"look of one"}']);
});

test("a failing program returns its error, and a program can catch errors of its calls", async () => {
  const { gave } = await ran(
    { code: "throw new Error('no luck');" },
    { code: 'try { await call("look", 7) } catch (error) { return error.message.split(":")[0] }' },
  );
  expect(gave).toEqual([
    [500, expect.stringContaining("no luck") as string],
    [200, { result: "Invalid arguments for look", logs: [] }],
  ]);
});

test("a program that misses a variable of an earlier declaration is told how to keep it", async () => {
  const { gave } = await ran(
    { code: "const { rows, y } = { rows: [1], y: 5 }; return y" },
    { code: "return y + 1" },
    { code: "return never" },
  );
  expect(gave.slice(1)).toEqual([
    [
      500,
      expect.stringMatching(
        /y'? is not defined.*An earlier program declared y with const, and it ended with that program\. Assign it without const \(y = \.\.\.\) to keep it\.$/,
      ) as string,
    ],
    [500, expect.not.stringContaining("declared")],
  ]);
});
