import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import { RunViewStore } from "../live/run-view-store";
import { RaiseLimit } from "./raise-limit";

test("raising the limit resumes a run that stopped at it and completes it", async () => {
  const store = new RunViewStore((work) => work());
  let runId = "";
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => <RaiseLimit runId={runId} onRaised={() => undefined} />}
    </OnRunPage>,
  );
  const graph = { ...draw("start > a > b > end"), config: RunConfig.parse({ max_steps: 2 }) };
  const { id } = await ask.workflows.create({ name: "Limited", graph });
  runId = (await ask.runs.start({ workflow_id: id })).run_id;
  const ended = () => troupe.runs.find(runId)?.final_status;
  await waitFor(() => expect(ended()).toBe("INCOMPLETE"));
  store.apply(troupe.runs.events(runId, 0, 500));
  store.flush();
  show();
  await person.click(screen.getByRole("button", { name: "Raise limit and resume" }));
  await person.click(await screen.findByRole("button", { name: "Raise and resume" }));
  await waitFor(() => expect(ended()).toBe("COMPLETED"));
});
