import { expect, test } from "vitest";
import { newScriptedModels } from "./scripted";
import { ask, newIo } from "./testing";

const tools = [{ name: "echo", description: "Says it again", parameters: { type: "object" } }];

test("the scripted model calls tools in order, each with a unique id", async () => {
  const models = newScriptedModels([
    { tool_calls: [{ tool_name: "echo", args: { text: "a" } }, { tool_name: "echo" }], text: "Looking" },
    { tool_calls: [{ tool_name: "echo", id: "mine", fault: "not JSON" }] },
    { text: "done", matches: /result/ },
  ]);
  const { io, got } = newIo();
  const first = await models.complete(ask("Go", { tools }), io);
  expect(first).toMatchObject({
    content: "Looking",
    finish_reason: "tool_calls",
    tool_protocol: "native",
    tool_calls: [
      { id: "call_1", tool_name: "echo", args: { text: "a" } },
      { id: "call_2", tool_name: "echo", args: {} },
    ],
  });
  expect(got).toMatchObject({ content: "Looking", tool_args: '{"text":"a"}{}' });
  const second = await models.complete(ask("Go", { tools, tool_protocol: "text" }), newIo().io);
  expect(second).toMatchObject({
    tool_protocol: "text",
    tool_calls: [{ id: "mine", args: {}, fault: "not JSON" }],
  });
  const last = await models.complete(ask("the result"), newIo().io);
  expect(last.tool_calls).toBeUndefined();
  expect(last).toMatchObject({ content: "done", finish_reason: "stop" });
  models.assertComplete();
});
