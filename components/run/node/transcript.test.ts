import { expect, test } from "vitest";
import type { AgentView, ModelCall, ToolCallView } from "@/server/domain/run";
import { transcript } from "./transcript";

const call = (id: string, status: ModelCall["status"]): ModelCall => ({
  id,
  node_id: "get",
  activation_id: "get#1",
  agent_id: "a",
  purpose: "task",
  status,
  attempt: 1,
  content: "",
  started_at: 0,
});
const agent = (roles: readonly ("system" | "user" | "assistant")[]): AgentView => ({
  withheld: [],
  key: "get#1/a",
  agent_id: "a",
  role_name: "Writer",
  activation_id: "get#1",
  status: "running",
  messages: roles.map((role) => ({ role, content: role })),
  tools: [],
  delegate_level: 0,
  started_at: 0,
});
const seen = (...args: Parameters<typeof transcript>) =>
  transcript(...args).map((turn) =>
    turn.kind === "call"
      ? `call ${turn.call.id}`
      : turn.kind === "tool"
        ? `tool ${turn.tool.id}`
        : turn.message.role,
  );

test("answers appear as their calls, after failed attempts, with the running call last", () => {
  expect(
    seen(agent(["system", "user", "assistant", "user"]), [
      call("1", "failed"),
      call("2", "completed"),
      call("3", "running"),
    ]),
  ).toEqual(["system", "user", "call 1", "call 2", "user", "call 3"]);
});

test("an answer without a call is still shown", () => {
  expect(seen(agent(["user", "assistant"]), [])).toEqual(["user", "assistant"]);
});

const tool = (id: string, by_call?: string): ToolCallView => ({
  id,
  node_id: "get",
  activation_id: "get#1",
  agent_id: "a",
  tool_name: "clock",
  args: {},
  status: "completed",
  started_at: 0,
  ...(by_call ? { by_call } : {}),
});

test("tools and their results follow the call that requested them", () => {
  const seenAgent = agent(["user", "assistant", "assistant"]);
  const messages = [...seenAgent.messages];
  messages.splice(2, 0, { role: "tool", content: "12:00", tool_call_id: "t1" });
  expect(
    seen(
      { ...seenAgent, messages },
      [
        { ...call("1", "completed"), tool_calls: [{ id: "t1", tool_name: "clock", args: {} }] },
        call("2", "completed"),
      ],
      [tool("t1"), tool("t2", "2")],
    ),
  ).toEqual(["user", "call 1", "tool t1", "call 2", "tool t2"]);
});

test("a tool call or result without a known model call is still shown", () => {
  const messages = [{ role: "tool" as const, content: "12:00", tool_call_id: "gone" }];
  expect(seen({ ...agent([]), messages }, [], [tool("t1", "unknown")])).toEqual(["tool", "tool t1"]);
});

test("only the first user message is the task, and messages after an answer are correction requests", () => {
  const titles = (roles: readonly ("system" | "user" | "assistant")[]) =>
    transcript(agent(roles), []).flatMap((turn) => (turn.kind === "message" ? [turn.title] : []));
  expect(titles(["system", "user", "assistant", "user", "user"])).toEqual([
    "System prompt",
    "Task",
    "Answer",
    "Correction request",
    "Correction request",
  ]);
});
