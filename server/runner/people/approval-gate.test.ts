import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, eventLines, newStage } from "../testing";

const HOUR = 3_600_000;

/** A text, a gate that a person decides at, and a way for each answer. */
const gated = (config: object = {}, output_keys: string[] = []): WorkflowGraph =>
  draw("start > text > gate; gate approved> good; gate rejected> bad", {
    text: { config: { set: { letter: "'Dear Ann'" } }, output_keys: ["letter"] },
    gate: {
      id: "gate",
      node_type: "approval_gate",
      output_keys,
      config: { title: "Send it?", body_template: "> {{letter}}", ...config },
    },
    good: { node_type: "end" },
    bad: { node_type: "end" },
  });

type Stage = ReturnType<typeof newStage>;
const openOf = (stage: Stage, id: string) =>
  Object.values(stage.store.state(id)!.interactions).find(({ status }) => status === "open");
async function asked(stage: Stage, id: string) {
  await expect.poll(() => openOf(stage, id)).toBeDefined();
  return openOf(stage, id)!;
}
const edgeCounts = (stage: Stage, id: string) =>
  Object.values(stage.store.state(id)!.edges)
    .filter(({ status }) => status === "taken")
    .map(({ count }) => count);

test("a gate asks with its options, and the answer selects the route", async () => {
  const stage = newStage();
  const id = stage.start(gated({}, ["verdict", "remark"]));
  const open = await asked(stage, id);
  expect(open.requested).toEqual({
    interaction_id: "gate#1/1/approval",
    kind: "approval",
    title: "Send it?",
    why: "The workflow continues with the option you choose.",
    body: "> Dear Ann",
    options: [
      { label: "approved", value: "approved" },
      { label: "rejected", value: "rejected" },
    ],
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    expires_at: open.requested_at + 7 * 24 * HOUR,
  });
  expect(stage.store.find(id)).toMatchObject({ status: "waiting", waits_for: "person" });
  const answer = { answer: "chosen" as const, option: "rejected", message: "too short", by: "ann" };
  expect(stage.host.steering.answer(id, open.id, open.requested.fingerprint, answer)).toBe(true);
  await stage.host.settled(id);
  const { state, nodes, activations } = stage.store.state(id)!;
  expect(state).toMatchObject({ letter: "Dear Ann", verdict: "rejected", remark: "too short" });
  expect([nodes.good!.status, nodes.bad!.status]).toEqual(["skipped", "completed"]);
  expect(activations["gate#1"]!.decided).toMatchObject({
    labels: ["rejected"],
    reason: "ann decided: too short",
  });
});

test("a question survives a crash at any turn, and its route is taken once", async () => {
  const before = newStage();
  const id = before.start(gated());
  await asked(before, id);
  const { turns } = before.store.journal(id);
  for (let turn = 1; turn <= turns.length; turn++) {
    const stage = newStage({ db: cutAt(before, id, turn) });
    stage.host.recover();
    const open = await asked(stage, id);
    const give = (option: string) =>
      stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
        answer: "chosen",
        option,
        by: option,
      });
    expect([give("approved"), give("rejected")]).toEqual([true, false]);
    await stage.host.settled(id);
    const events = stage.store.events(id, 0, 1e6);
    expect(eventLines(events).filter((line) => /^(interaction_a|node_completed)/.test(line))).toEqual([
      "node_completed start#1",
      "node_completed text#1",
      "interaction_answered gate#1",
      "node_completed gate#1",
      "node_completed good#1",
    ]);
    expect(edgeCounts(stage, id)).toEqual([1, 1, 1]);
  }
});

test("a draft edited by a person is passed on", async () => {
  const stage = newStage();
  const id = stage.start(gated({ allow_edit: true }, ["letter", "comment", "decision"]));
  const open = await asked(stage, id);
  expect(open.requested).toMatchObject({ draft: "Dear Ann", body: "> Dear Ann" });
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "chosen",
    option: "approved",
    value: "Dear Anna",
    by: "ann",
  });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.state).toMatchObject({
    letter: "Dear Anna",
    comment: "",
    decision: "approved",
  });
});

test.concurrent.each([
  ["rejected by default", {}, "bad"],
  ["approved if configured", { on_timeout: "approve" }, "good"],
  ["the default answer", { on_timeout: "default", default_response: "approved" }, "good"],
  ["a failure", { on_timeout: "fail" }, null],
])("an unanswered gate times out with this result: %s", async (_name, config, end) => {
  const stage = newStage();
  const { state } = await stage.run(gated({ timeout_s: 1, ...config }));
  expect(state.interactions["gate#1/1/approval"]!.answered).toEqual({
    interaction_id: "gate#1/1/approval",
    answer: "expired",
    by: "time",
  });
  const reached = ["good", "bad"].filter((node) => state.nodes[node]?.status === "completed");
  expect(reached).toEqual(end === null ? [] : [end]);
  expect(state.run.reason_code).toBe(end === null ? "HUMAN_TIMEOUT" : "END_REACHED");
});

test.concurrent("an unanswered gate escalates with its full time again, and then its node fails", async () => {
  const stage = newStage();
  const { state, events } = await stage.run(
    gated({ timeout_s: 1, on_timeout: "escalate", escalation: [{ after_s: 60, to: "the lead" }] }),
  );
  expect(events.flatMap(({ type }) => (type.startsWith("interaction_") ? [type] : []))).toEqual([
    "interaction_requested",
    "interaction_escalated",
    "interaction_answered",
  ]);
  expect(state.interactions["gate#1/1/approval"]).toMatchObject({
    requested: { assigned_to: "the lead" },
    escalated: [{ level: 1, to: "the lead" }],
    answered: { answer: "expired" },
  });
  expect(state.run.reason_code).toBe("HUMAN_TIMEOUT");
});

const form = (config: object = {}) =>
  draw("start > ask > end", {
    ask: {
      id: "ask",
      node_type: "user_input",
      output_keys: ["name", "age"],
      config: {
        title: "Who are you?",
        schema: {
          type: "object",
          properties: { name: { type: "string" }, age: { type: "integer" } },
          required: ["name"],
        },
        ...config,
      },
    },
  });

test("a form returns a value for each of its fields", async () => {
  const stage = newStage();
  const id = stage.start(form());
  const open = await asked(stage, id);
  expect(open.requested).toMatchObject({ kind: "input", response_schema: { required: ["name"] } });
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "given",
    value: { name: "Ann" },
    by: "ann",
  });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.state).toMatchObject({ name: "Ann", age: null });
});

test("a declined form fails its node", async () => {
  const stage = newStage();
  const id = stage.start(form());
  const open = await asked(stage, id);
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "reject",
    message: "not mine",
    by: "ann",
  });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.error).toMatchObject({
    code: "HUMAN_REJECTED",
    message: "A person declined to fill in “ask”: not mine",
  });
});
