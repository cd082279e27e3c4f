import { expect, test } from "vitest";
import { expectSchema, newApi } from "@/server/http-api/testing";

async function twoRuns() {
  const answers = ["approved", "rejected"];
  const asked: string[] = [];
  const api = newApi(({ messages }) => {
    asked.push(messages.at(-1)?.content ?? "");
    const status = asked.length <= 2 ? answers[0] : answers[1];
    return `{"approval_status": "${status}", "approver_comments": "So."}`;
  });
  const workflow = api.addApproval();
  const ids: string[] = [];
  for (const _ of answers) {
    const input = { user_request: "Vacation next week" };
    const start = await api.ask("POST", `/workflows/${workflow}/runs`, { input });
    const { run_id } = start.body as { run_id: string };
    await expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");
    ids.push(run_id);
  }
  const [good = "", bad = ""] = ids;
  return { api, asked, good, bad };
}

test("the API finds the step that made the difference between two runs, without model calls", async () => {
  const { api, asked, good, bad } = await twoRuns();
  const before = asked.length;
  const { status, body } = await api.ask("POST", `/runs/${bad}/bisect`, {
    good,
    expect: { kind: "state", when: "state.approval_status == 'approved'" },
  });
  expect(status).toBe(200);
  expectSchema("bisectRun", body);
  expect(body).toMatchObject({
    verdict: "found",
    step: 0,
    differences: [{ kind: "model", good: expect.stringContaining("approved") }],
    tries: [
      { from_good: 0, outcome: "fails" },
      { from_good: 1, outcome: "holds" },
    ],
  });
  expect(asked.length).toBe(before);
});

test("a bisect takes any expectation of a workflow test except judges", async () => {
  const { api, good, bad } = await twoRuns();
  for (const expect of [
    { kind: "text", key: "approval_status", equals: "approved" },
    { kind: "text", key: "approval_status", excludes: "rejected" },
  ])
    expectFound(await api.ask("POST", `/runs/${bad}/bisect`, { good, expect }));
  const judged = { kind: "judge", rubric: "It is kind." };
  expect((await api.ask("POST", `/runs/${bad}/bisect`, { good, expect: judged })).status).toBe(400);
});

const expectFound = ({ status, body }: { status: number; body: unknown }) =>
  expect([status, body]).toMatchObject([200, { verdict: "found", step: 0 }]);

test("an invalid bisect is rejected with a message", async () => {
  const { api, good, bad } = await twoRuns();
  const rejection = async (run: string, body: object) => {
    const answer = await api.ask("POST", `/runs/${run}/bisect`, body);
    return [answer.status, (answer.body as { error: { message: string } }).error.message];
  };
  const approved = { kind: "state", when: "state.approval_status == 'approved'" };
  expect(await rejection(bad, { good, expect: { kind: "status", is: "COMPLETED" } })).toEqual([
    409,
    "This is also true in the bad run. Finished as Completed. Choose an expectation that fails in the bad run.",
  ]);
  expect(await rejection(good, { good: bad, expect: approved })).toEqual([
    409,
    "This isn't true in the good run. Expected state.approval_status == 'approved', but it is false: approval_status is “rejected”. Choose an expectation that passes in the good run.",
  ]);
  expect(await rejection(bad, { good: bad, expect: approved })).toEqual([
    409,
    "Choose a good and a bad run of the same workflow.",
  ]);
  expect((await rejection(bad, { good, expect: { kind: "state", when: "state. ==" } }))[0]).toBe(400);
  expect((await rejection(bad, { good, expect: { kind: "guess" } }))[0]).toBe(400);
  expect((await rejection(bad, { good: "run_none", expect: approved }))[0]).toBe(404);
});
