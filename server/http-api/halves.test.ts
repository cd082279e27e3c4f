import { expect, test } from "vitest";
import { z } from "zod";
import { draw } from "@/server/domain/testing/drawing";
import { fakeTools, newStage } from "@/server/runner/testing";
import { verifyLogs } from "@/server/store/runs/verify-log";
import { defineTool } from "@/server/tools/define";
import { newApi } from "./testing";

/** The first half of a character of two: valid in JSON and in JavaScript, in UTF-8 there is no such thing. */
const HALF = "\ud83d";

test("an unpaired surrogate breaks neither the log, its chain nor the API", async () => {
  const half = defineTool({
    name: "half",
    description: `Gives ${HALF}`,
    input: z.object({ text: z.string() }),
    source: "builtin",
    risk: "LOW",
    execute: ({ text }) => ({ text, [`key ${HALF}`]: HALF }),
  });
  const tools = fakeTools([half]);
  const api = newApi(() => JSON.stringify({ text: HALF }), tools);
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  const graph = draw("start > ask > call > end", {
    start: { config: { inputs: [{ key: "topic", type: "string" }] } },
    ask: {
      node_type: "agent_task",
      output_keys: ["text"],
      config: { required_role: "Writer", task_description_template: `${HALF} {{state.topic}}` },
    },
    call: {
      node_type: "tool_call",
      output_keys: ["done"],
      config: { tool_name: "half", args: { text: "{{state.text}}" } },
    },
  });
  const workflow = api.workflows.create({ name: `x${HALF}`, graph });
  const { status, body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: { topic: HALF } });
  expect([status, body]).toEqual([202, { run_id: expect.any(String) }]);
  await api.host.settled(body.run_id);
  const run = await api.ask("GET", `/runs/${body.run_id}`);
  expect([run.status, run.body.final_status, run.body.error]).toEqual([200, "COMPLETED", null]);
  expect(JSON.stringify(run.body.state)).toContain("key ");
  const { events } = (await api.ask("GET", `/runs/${body.run_id}/events`)).body;
  expect(events.at(-1).type).toBe("run_finished");
  expect(verifyLogs(api.db)).toMatchObject({ errors: [], unchained: 0 });

  // Taken up again from its log, it comes to the same.
  api.db.$client
    .prepare("update runs set status = 'running', final_status = null where id = ?")
    .run(body.run_id);
  const again = newStage({ db: api.db, tools });
  again.host.recover();
  await again.host.settled(body.run_id);
  expect(again.store.find(body.run_id)!.held).toBeNull();
  expect(again.store.state(body.run_id)!.state).toEqual(run.body.state);
});
