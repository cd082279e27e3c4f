import { expect, test } from "vitest";
import { approvalRun } from "@/components/run/run-example";
import type { RunEvent } from "../events";
import { firstDivergence } from "./divergence";

const answering = (content: string, instruction?: string): RunEvent[] =>
  approvalRun.map((event): RunEvent => {
    if (event.type === "llm_call_completed") return { ...event, payload: { ...event.payload, content } };
    if (event.type === "message_added" && event.payload.message.role === "user" && instruction !== undefined)
      return {
        ...event,
        payload: { ...event.payload, message: { ...event.payload.message, content: instruction } },
      };
    return event;
  });

test("two runs diverge at a model that got the same prompt and answered differently", () => {
  const seq = approvalRun.find(({ type }) => type === "llm_call_completed")?.seq;
  expect(firstDivergence(answering("yes"), answering("no"))).toEqual({
    what: "model",
    call_id: "call_1",
    a: seq,
    b: seq,
    node_id: "get",
    agent_id: "approval_agent",
    answers: { a: "yes", b: "no" },
  });
});

test("two runs don't diverge at a call with another prompt or the same answer", () => {
  expect(firstDivergence(answering("yes"), answering("no", "Decide otherwise."))).toBeNull();
  expect(firstDivergence(answering("yes"), answering("yes"))).toBeNull();
});

test("two runs diverge at a call whose prompts differ only in the task id", () => {
  const taskPrompt = (id: string) => `Task ID: ${id}\n\n<task id="${id}">\nDecide.\n</task>`;
  expect(
    firstDivergence(
      answering("yes", taskPrompt("0123456789ab")),
      answering("no", taskPrompt("ba9876543210")),
    ),
  ).toMatchObject({ answers: { a: "yes", b: "no" } });
});

test("a prompt that is only partly in the log proves no divergence", () => {
  const isKept = ({ type, payload }: RunEvent) => type !== "message_added" || payload.origin !== "system";
  expect(firstDivergence(answering("no").filter(isKept), answering("yes").filter(isKept))).toBeNull();
});
