import { expect, test } from "vitest";
import type { AgentView, ModelCall } from "@/server/domain/run";
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
  transcript(...args).map((turn) => (turn.kind === "call" ? `call ${turn.call.id}` : turn.message.role));

test("answers stand as the calls that gave them, failed attempts before them, the running one last", () => {
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
