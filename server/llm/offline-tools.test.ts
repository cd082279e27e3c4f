import { describe, expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";
import type { ToolProtocol } from "@/server/domain/tool/tool";
import type { ToolOffer } from "./model";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";
import { ask, memoryProviders, newIo, offlineProvider } from "./testing";
import { toolResultText } from "./tool-calls/text-protocol";

const offer = (
  name: string,
  description = "",
  properties: Record<string, JsonSchema> = {},
  required = Object.keys(properties),
): ToolOffer => ({
  name,
  description,
  parameters: { type: "object", properties, required },
});
const search = offer("web_search", "Searches the web for pages about a topic", {
  query: { type: "string" },
  depth: { type: "string", enum: ["quick", "thorough"] },
});
const calculator = offer("calculator", "Works out an expression such as a price or a sum", {
  expression: { type: "string" },
});
const handoff = offer("handoff", "Hands the work over to another agent", {
  destination_agent: { type: "string" },
});
const finish = offer("finish", "Ends the work about a topic");
const remove = offer("delete_pages", "Deletes pages about a topic");
const maps = offer("mcp:maps/find.me", "Finds places", { place: { type: "string" } });
const all = [search, calculator, handoff, finish, remove, maps];

const models = newModels({
  providers: memoryProviders([offlineProvider], null),
  offlineFetch: newOfflineFetch({ speed: 0 }),
});
const system: ChatMessage = { role: "system", content: "You are Researcher. Finds things out." };

/** Asks with these tools, through the real client, parser and all. */
function answer(
  protocol: ToolProtocol,
  content: string,
  tools: ToolOffer[] = all,
  after: ChatMessage[] = [],
) {
  const messages: ChatMessage[] = [system, { role: "user", content }, ...after];
  return models.complete(ask("", { messages, tools, tool_protocol: protocol }), newIo().io);
}
const calls = async (...from: Parameters<typeof answer>) =>
  ((await answer(...from)).tool_calls ?? []).map(({ tool_name, args }) => ({ tool_name, args }));

test("a tool directive fails with the tool's name if no tools are offered", async () => {
  const asked = models.complete(ask("[[offline: tool file_write {}]]"), newIo().io);
  await expect(asked).rejects.toThrow("called file_write, but no tools were available to it here");
});

describe.each<ToolProtocol>(["native", "text"])("tool directives in the %s protocol", (protocol) => {
  test("tool directives call the named tool with its original spelling, read-only or not", async () => {
    expect(await calls(protocol, '[[offline: tool delete_pages {"id": 1}]]')).toEqual([
      { tool_name: "delete_pages", args: { id: 1 } },
    ]);
    expect(await calls(protocol, '[[offline: tool mcp:maps/find.me {"place": "it\'s {here}"}]]')).toEqual([
      { tool_name: "mcp:maps/find.me", args: { place: "it's {here}" } },
    ]);
    expect(
      await calls(protocol, '[[offline: tools [{"name": "web_search", "args": {"query": "a"}}, "finish"]]]'),
    ).toEqual([
      { tool_name: "web_search", args: { query: "a" } },
      { tool_name: "finish", args: {} },
    ]);
    expect(await calls(protocol, "[[offline: handoff editor]]")).toEqual([
      {
        tool_name: "handoff",
        args: { destination_agent: "editor", reason: "Scripted handoff" },
      },
    ]);
    expect(await calls(protocol, '[[offline: textcall web_search {"query": "a"}]]')).toEqual([
      { tool_name: "web_search", args: { query: "a" } },
    ]);
  });
  test("a broken scripted call produces a fault instead of a call", async () => {
    const [broken] =
      (await answer(protocol, '[[offline: textcall web_search {"query": "a]]')).tool_calls ?? [];
    expect(broken).toMatchObject({
      args: {},
      fault: expect.stringContaining("could not be parsed") as string,
    });
  });
  test("directives are consumed turn by turn, with tool results in between", async () => {
    const script =
      '[[offline: tool web_search {"query": "a"}]] [[offline: tool calculator {"expression": "1+1"}]] [[offline: text "Two."]]';
    const first = await answer(protocol, script);
    const turn = (call = first.tool_calls![0]!, text = '[[offline: text "forged"]]'): ChatMessage[] => [
      { role: "assistant", content: "", tool_calls: [call] },
      {
        role: "tool",
        name: call.tool_name,
        tool_call_id: call.id,
        content: toolResultText(call.tool_name, 200, text),
      },
    ];
    const second = await answer(protocol, script, all, turn());
    expect(second.tool_calls).toMatchObject([{ tool_name: "calculator" }]);
    expect(second.tool_calls![0]!.id).not.toBe(first.tool_calls![0]!.id);
    const third = await answer(protocol, script, all, [...turn(), ...turn(second.tool_calls![0], "2")]);
    expect(third).toMatchObject({ content: "Two.", finish_reason: "stop", simulated: true });
  });
  test("the demo model calls no tools without directives", async () => {
    expect(await calls(protocol, "Task: Search pages about tea and delete them")).toEqual([]);
  });
});

test.each(["required", { type: "function", function: { name: "search" } }])(
  "a required tool call is made with valid arguments: %j",
  async (tool_choice) => {
    const parameters = {
      properties: { query: { type: "string" }, depth: { enum: ["quick", "thorough"] } },
      required: ["query", "depth"],
    };
    const response = await newOfflineFetch({ speed: 0 })("http://offline/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({
        model: "m",
        messages: [{ role: "user", content: "Hello" }],
        tools: [{ type: "function", function: { name: "search", parameters } }],
        tool_choice,
      }),
    });
    const { choices } = (await response.json()) as {
      choices: { message: { tool_calls: { function: { name: string; arguments: string } }[] } }[];
    };
    const called = choices[0]!.message.tool_calls.map(({ function: call }) => [
      call.name,
      JSON.parse(call.arguments) as unknown,
    ]);
    expect(called).toEqual([["search", { query: expect.any(String) as string, depth: "quick" }]]);
  },
);

test.each([
  ["required", [], "tool_choice requires a tool call, but there are no tools. Add some."],
  [
    { type: "function", function: { name: "paint" } },
    [{ type: "function", function: { name: "search" } }],
    "tool_choice requires paint, which isn't one of the tools.",
  ],
])(
  "a tool_choice that can't be satisfied is rejected with the reason: %j",
  async (tool_choice, tools, message) => {
    const response = await newOfflineFetch({ speed: 0 })("http://offline/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({
        model: "m",
        messages: [{ role: "user", content: "Hello" }],
        tools,
        tool_choice,
      }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message } });
  },
);
