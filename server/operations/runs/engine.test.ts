import { expect, test, vi } from "vitest";
import { EMBEDDED, type RunPlace } from "@/server/domain/run/engine-state";
import { engineOf } from "@/server/domain/testing/engine";
import { expectSchema, newApi } from "@/server/http-api/testing";

test("the API returns which engine executes runs", async () => {
  const api = newApi();
  const { body } = await api.ask("GET", "/engine");
  expect(body).toEqual(EMBEDDED);
  expectSchema("getEngine", body);
});

test("a stalled run is listed with its workflow, even if the run was deleted", async () => {
  const api = newApi();
  const workflow_id = api.addApproval();
  const { body: started } = await api.ask("POST", `/workflows/${workflow_id}/runs`, {
    input: { user_request: "May I leave?" },
  });
  const known = { run_id: started.run_id, state: "tried_again", tries: 7, cause: "No worker." } as const;
  const gone = { run_id: "run_gone", state: "paused", tries: 1, cause: "Why." } as const;
  const state = engineOf({ troubled: [known, gone] });
  vi.spyOn(api.engine, "state").mockReturnValue(state);
  const { body } = await api.ask("GET", "/engine");
  expectSchema("getEngine", body);
  expect(body).toEqual({
    ...state,
    troubled: [
      { ...known, workflow_id, workflow_name: "Approval" },
      { ...gone, workflow_id: null, workflow_name: "" },
    ],
  });
  await api.host.settled(started.run_id);
});

test("a run returns its worker, or null if the server executes it", async () => {
  const api = newApi();
  const { body: started } = await api.ask("POST", `/workflows/${api.addApproval()}/runs`, {
    input: { user_request: "May I leave?" },
  });
  await api.host.settled(started.run_id);
  const read = async () => (await api.ask("GET", `/runs/${started.run_id}`)).body;
  expect((await read()).place).toBeNull();
  const place: RunPlace = {
    state: "at_work",
    worker: "worker-2",
    moved_from: "worker-1",
    moved_at: 1_700_000_000_000,
  };
  const asked = vi.spyOn(api.engine, "place").mockReturnValue(place);
  const run = await read();
  expectSchema("getRun", run);
  expect(run.place).toEqual(place);
  expect(asked).toHaveBeenCalledWith(started.run_id);
});
