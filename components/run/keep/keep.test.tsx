import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunAgainProvider } from "@/components/run/start/run-again";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { KeepButton } from "./keep-button";

/** The button beside the result of a run of a small workflow. */
async function openRun() {
  const store = new RunViewStore((work) => work());
  let [runId, workflowId] = ["", ""];
  const page = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => (
        <RunAgainProvider runId={runId} workflowId={workflowId}>
          <KeepButton />
        </RunAgainProvider>
      )}
    </OnRunPage>,
  );
  const { ask, troupe } = page;
  ({ id: workflowId } = await ask.workflows.create({
    name: "Letters",
    graph: draw("start > a > end", { a: { name: "Write" } }),
  }));
  ({ run_id: runId } = await ask.runs.start({ workflow_id: workflowId, input: { topic: "tides" } }));
  await troupe.host.settled(runId);
  store.apply(troupe.runs.events(runId, 0, 500));
  return { ...page, runId, workflowId };
}
const dialogOf = async (person: Awaited<ReturnType<typeof openRun>>["person"]) => {
  await person.click(screen.getByRole("button", { name: "Save as test" }));
  return within(await screen.findByRole("dialog", { name: "Save run as test" }));
};

test("saving a run as a test proposes a name and previews its recordings and expectations", async () => {
  const { show, person, ask, workflowId } = await openRun();
  show();
  const dialog = await dialogOf(person);
  expect(dialog.getByRole<HTMLInputElement>("textbox", { name: "Name" }).value).toBe("Letters (recorded)");
  expect(
    within(dialog.getByRole("region", { name: "Included" }))
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual(["Input: topic", "Recorded tool responses, if any. No model calls.", "No answers from people"]);
  expect(dialog.getByRole("region", { name: "Expectations" }).textContent).toContain(
    'PathExactly: start, Write, endQuestionsNo questions askedValuea is "a"',
  );
  await person.click(dialog.getByRole("button", { name: "Save test" }));
  await waitFor(() => expect(window.location.pathname).toBe(`/workflows/${workflowId}/tests`));
  const [kept] = await ask.tests.list({ workflow_id: workflowId });
  expect(window.location.search).toBe(`?test=${kept?.id}`);
  expect(kept).toMatchObject({
    name: "Letters (recorded)",
    last: { status: "passed", expected: 4, passed: 4 },
  });
});

test("a saved test that can't run on the current workflow shows that before it opens", async () => {
  const { show, person, ask, workflowId } = await openRun();
  await ask.workflows.save({ id: workflowId, revision: 1, graph: draw("start > b > end") });
  show();
  const dialog = await dialogOf(person);
  await person.clear(dialog.getByRole("textbox", { name: "Name" }));
  expect(dialog.getByRole("button", { name: "Save test" })).toHaveProperty("disabled", true);
  await person.type(dialog.getByRole("textbox", { name: "Name" }), "As it was");
  await person.click(dialog.getByRole("button", { name: "Save test" }));
  const kept = within(await screen.findByRole("dialog", { name: "Saved “As it was”" }));
  expect(kept.getByText("Can't run")).toBeTruthy();
  const [test] = await ask.tests.list({ workflow_id: workflowId });
  expect(kept.getByRole("link", { name: "Open test" }).getAttribute("href")).toBe(
    `/workflows/${workflowId}/tests?test=${test?.id}`,
  );
});
