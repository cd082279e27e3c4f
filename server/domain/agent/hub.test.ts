import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import {
  type Action,
  actionFromDict,
  actionOfCall,
  messageAction,
  type Observation,
  observationFromDict,
  observationOf,
  toDict,
  toMemory,
} from "./hub";

const text = fc.string({ maxLength: 20 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
/** As it comes back: reading drops the one key that could change what an object is. */
const read = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === "__proto__" ? undefined : inner));
const args = fc.dictionary(fc.constantFrom("a", "b"), json, { noNullPrototype: true });
const thought = text;
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ action: fc.constant("run" as const), args: fc.record({ command: text, thought }) }),
  fc.record({ action: fc.constant("run_ipython" as const), args: fc.record({ code: text, thought }) }),
  fc.record({ action: fc.constant("read" as const), args: fc.record({ path: text, thought }) }),
  fc.record({
    action: fc.constant("write" as const),
    args: fc.record({ path: text, content: text, thought }),
  }),
  fc.record({ action: fc.constant("browse" as const), args: fc.record({ url: text, thought }) }),
  fc.record({
    action: fc.constant("add_task" as const),
    args: fc.record({ goal: text, dependencies: fc.array(text), thought }),
  }),
  fc.record({
    action: fc.constant("modify_task" as const),
    args: fc.record({ task_id: text, state: text, thought }),
  }),
  fc.record({ action: fc.constant("finish" as const), args: fc.record({ outputs: args, thought }) }),
  fc.record({ action: fc.constant("reject" as const), args: fc.record({ reason: text, thought }) }),
  fc.record({
    action: fc.constant("delegate" as const),
    args: fc.record({ agent: text, inputs: args, thought }),
  }),
  fc.record({
    action: fc.constant("message" as const),
    args: fc.record({ content: text, wait_for_response: fc.boolean(), thought }),
  }),
  fc.record({
    action: fc.constant("call_tool" as const),
    args: fc.record({ name: text, arguments: args, thought }),
  }),
);

test("actions survive a round trip through both JSON forms", () => {
  fc.assert(
    fc.property(action, (given) => {
      expect(actionFromDict(JSON.parse(JSON.stringify(toDict(given))))).toEqual(read(given));
      expect(actionFromDict(JSON.parse(JSON.stringify(toMemory(given))))).toEqual(read(given));
      expect(typeof toDict(given).message).toBe("string");
    }),
  );
});

test("observations survive a round trip, and only the memory form keeps the raw error", () => {
  const result = fc.oneof(
    json.map((output) => ({ output, status_code: 200 as const })),
    fc.record({ output: json, error: text, status_code: fc.constantFrom(404 as const, 500 as const) }),
  );
  fc.assert(
    fc.property(action, result, (given, output) => {
      const seen = observationOf(given, output);
      expect(observationFromDict(JSON.parse(JSON.stringify(toMemory(seen))))).toEqual(seen);
      const shown = observationFromDict(JSON.parse(JSON.stringify(toDict(seen))));
      if (seen.observation !== "error") expect(shown).toEqual(seen);
      else expect(shown).toEqual({ ...seen, extras: { status_code: output.status_code } });
    }),
  );
});

test("tool calls map to agent hub actions", () => {
  const of = (tool_name: string, given: Record<string, Json>) =>
    actionOfCall({ tool_name, args: given }, "hm");
  const thought = "hm";
  expect([
    of("run_command", { command: "ls" }),
    of("run_python_cell", { code: "1+1" }),
    of("file_read", { path: "a.txt" }),
    of("file_write", { path: "a.txt", content: "x" }),
    of("browse_url", { url: "https://example.org" }),
    of("plan_add_task", { description: "Test", priority: "high", dependencies: ["t1"] }),
    of("plan_update_task", { task_id: "t1", status: "completed" }),
    of("finish", { message: "Done", outputs: { n: 1 } }),
    of("reject_task", { reason: "No access" }),
    of("delegate_task", { coworker: "Browser", task: "Look", context: "" }),
    of("calculator", { expression: "1" }),
    of("file_read", { file: "wrong" }),
  ]).toEqual([
    { action: "run", args: { command: "ls", thought } },
    { action: "run_ipython", args: { code: "1+1", thought } },
    { action: "read", args: { path: "a.txt", thought } },
    { action: "write", args: { path: "a.txt", content: "x", thought } },
    { action: "browse", args: { url: "https://example.org", thought } },
    { action: "add_task", args: { goal: "Test", dependencies: ["t1"], thought } },
    { action: "modify_task", args: { task_id: "t1", state: "completed", thought } },
    { action: "finish", args: { outputs: { n: 1 }, thought: "Done" } },
    { action: "reject", args: { reason: "No access", thought } },
    { action: "delegate", args: { agent: "Browser", inputs: { task: "Look", context: "" }, thought } },
    { action: "call_tool", args: { name: "calculator", arguments: { expression: "1" }, thought } },
    { action: "call_tool", args: { name: "file_read", arguments: { file: "wrong" }, thought } },
  ]);
});

test("actions and observations have a readable message", () => {
  expect([
    toDict(actionOfCall({ tool_name: "file_read", args: { path: "a.txt" } })).message,
    toDict(actionOfCall({ tool_name: "delegate_task", args: { coworker: "Browser" } })).message,
    toDict(messageAction("Hello")).message,
  ]).toEqual(["Reading file: a.txt", "Asking Browser for help with this task", "Hello"]);
  const failed = observationOf(actionOfCall({ tool_name: "run_command", args: { command: "make" } }), {
    status_code: 200,
    output: { exit_code: 2, stdout: "" },
  });
  expect(failed).toEqual<Observation>({
    observation: "run",
    content: '{"exit_code":2,"stdout":""}',
    extras: { command: "make", exit_code: 2 },
  });
  expect(toDict(failed).message).toBe("Command `make` exited with code 2.");
});

test("unknown actions and invalid observations are rejected", () => {
  expect(() => actionFromDict({ action: "fly", args: {} })).toThrow();
  expect(() => observationFromDict({ observation: "read", content: "x", extras: {} })).toThrow();
});
