import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, expectSchema, newApi } from "@/server/http-api/testing";
import { cutAt, eventLines } from "@/server/runner/testing";

const gated = draw("start > gate; gate approved> good; gate rejected> bad", {
  gate: {
    id: "gate",
    node_type: "approval_gate",
    output_keys: ["letter", "comment"],
    config: { title: "Send it?", body_template: "Dear Ann", allow_edit: true },
  },
  good: { node_type: "end" },
  bad: { node_type: "end" },
});
const form = draw("start > ask > end", {
  ask: {
    id: "ask",
    node_type: "user_input",
    output_keys: ["name", "age"],
    config: {
      title: "Who?",
      schema: {
        type: "object",
        properties: { name: { type: "string", minLength: 2 }, age: { type: "integer", default: 4 } },
        required: ["name"],
      },
    },
  },
});

interface Question {
  interaction_id: string;
  fingerprint: string;
}

/** The question of a run, and how to answer it. */
async function asked(api: Api, run: string) {
  const open = async () => (await api.ask("GET", `/runs/${run}/questions`)).body as { questions: Question[] };
  await expect.poll(async () => (await open()).questions.length).toBe(1);
  const questions = await open();
  expectSchema("listRunQuestions", questions);
  const { interaction_id, fingerprint } = questions.questions[0]!;
  const give = (value: object) =>
    api.ask("POST", `/runs/${run}/answers`, { interaction_id, fingerprint, ...value });
  return { question: questions.questions[0]!, give };
}

async function begin(graph: WorkflowGraph) {
  const api = newApi();
  const workflow = api.workflows.create({ name: "x", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  const { run_id } = body as { run_id: string };
  return { api, run_id, ...(await asked(api, run_id)) };
}

test("an approval accepts the label of an option and an edited draft", async () => {
  const { api, run_id, question, give } = await begin(gated);
  expect(question).toMatchObject({
    node_id: "gate",
    kind: "approval",
    draft: "Dear Ann",
    options: [
      { label: "approved", value: "approved" },
      { label: "rejected", value: "rejected" },
    ],
    expires_at: expect.any(Number),
  });
  const refusals = [
    [{ answer: "maybe" }, "Answer with one of: approved, rejected."],
    [{}, "Answer with one of: approved, rejected."],
    [{ answer: "approved", value: { text: "Dear" } }, "The edited draft must be text."],
    [{ answer: "approved", calls: [0] }, "Answer this question with one of its options."],
  ] as const;
  for (const [sent, message] of refusals) {
    const { status, body } = await give(sent);
    expect([status, body.error.code, body.error.details.errors[0].message]).toEqual([
      400,
      "answer_does_not_fit",
      message,
    ]);
  }
  const { status } = await give({ answer: "Approved", value: "Dear Anna", message: "now" });
  expect(status).toBe(200);
  await api.host.settled(run_id);
  const { body } = await api.ask("GET", `/runs/${run_id}`);
  expect([body.final_status, body.state, body.nodes.bad.status]).toEqual([
    "COMPLETED",
    expect.objectContaining({ letter: "Dear Anna", comment: "now" }),
    "skipped",
  ]);
  const late = await give({ answer: "rejected" });
  expect([late.status, late.body.error.details]).toEqual([
    409,
    { answered_by: expect.any(String), answer: "approved" },
  ]);
});

test("a form answer is validated by its schema and writes one value per field", async () => {
  const { api, run_id, give } = await begin(form);
  const { status, body } = await give({ answer: "given", value: { name: "A", age: "old", size: 4 } });
  expect([status, body.error.details.errors.map(({ key }: { key: string }) => key)]).toEqual([400, ["size"]]);
  const again = await give({ value: { name: "A" } });
  expect([again.status, again.body.error.details.errors]).toEqual([
    400,
    [{ key: "name", message: expect.any(String) }],
  ]);
  expect((await give({ value: { name: "Ann" } })).status).toBe(200);
  await api.host.settled(run_id);
  expect((await api.ask("GET", `/runs/${run_id}`)).body.state).toMatchObject({ name: "Ann", age: 4 });
});

test("an approval answered after a server kill continues the run once", async () => {
  const before = await begin(gated);
  const { run_id } = before;
  const turns = before.api.runs.journal(run_id).turns.length;
  const api = newApi(undefined, undefined, cutAt(before.api, run_id, turns));
  expect(api.host.recover()).toBe(1);
  const { question, give } = await asked(api, run_id);
  expect(question).toEqual(before.question);
  const given = await Promise.all([give({ answer: "approved" }), give({ answer: "rejected" })]);
  expect(given.map(({ status }) => status)).toEqual([200, 409]);
  await api.host.settled(run_id);
  const lines = eventLines(api.runs.events(run_id, 0, 1e6));
  expect(lines.filter((line) => /^(interaction|node_completed)/.test(line))).toEqual([
    "node_completed start#1",
    "interaction_requested gate#1",
    "interaction_answered gate#1",
    "node_completed gate#1",
    "node_completed good#1",
  ]);
});
