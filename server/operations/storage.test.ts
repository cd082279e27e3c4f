import { expect, test } from "vitest";
import { expectSchema, newApi } from "../http-api/testing";

test("the API shows storage usage and sets retention rules, which is audited", async () => {
  const api = newApi();
  const { body } = await api.ask("GET", "/storage");
  expectSchema("getStorage", body);
  expect(body).toMatchObject({ rules: { days: null, runs: null, workflows: {} }, outdated: 0 });
  const rules = { days: 30, runs: null, workflows: { w: { days: null, runs: 5 } } };
  expect(await api.ask("PUT", "/storage/rules", rules)).toMatchObject({ status: 200, body: { outdated: 0 } });
  expect((await api.ask("GET", "/storage")).body.rules).toEqual(rules);
  expect(api.audit.list()).toMatchObject([
    {
      kind: "kept_runs_changed",
      who: expect.stringContaining("token:"),
      detail: { days: 30, runs: null, workflows: 1 },
    },
  ]);
  expect(await api.ask("PUT", "/storage/rules", { days: 0 })).toMatchObject({
    status: 400,
    body: { error: { code: "bad_request", message: expect.stringContaining("days") } },
  });
});

test("the API deletes old runs by the retention rules", async () => {
  const api = newApi();
  const { body } = await api.ask("POST", `/workflows/${api.addApproval()}/runs`, {
    input: { user_request: "May I leave?" },
  });
  await api.host.settled(body.run_id);
  api.db.$client.prepare("update runs set created_at = 1, finished_at = 1").run();
  expect((await api.ask("PUT", "/storage/rules", { days: 1 })).body).toEqual({ outdated: 1 });
  expect(await api.ask("POST", "/storage/sweep")).toMatchObject({ status: 202, body: { outdated: 1 } });
  // It is joined, not begun again.
  await api.retention.sweep();
  expect((await api.ask("GET", `/runs/${body.run_id}`)).status).toBe(404);
});
