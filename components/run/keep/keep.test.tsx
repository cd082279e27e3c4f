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
  await person.click(screen.getByRole("button", { name: "Keep this as a test" }));
  return within(await screen.findByRole("dialog", { name: "Keep this run as a test" }));
};

test("a run is kept as a test under a proposed name; what of it is kept and expected is said before", async () => {
  const { show, person, ask, workflowId } = await openRun();
  show();
  const dialog = await dialogOf(person);
  expect(dialog.getByRole<HTMLInputElement>("textbox", { name: "Name" }).value).toBe("Letters as it went");
  expect(
    within(dialog.getByRole("region", { name: "What is kept" }))
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual([
    "The input: topic",
    "The recorded answers of tools, if any; no model was asked",
    "Nobody was asked, so no answers of people",
  ]);
  expect(dialog.getByRole("region", { name: "What will be expected" }).textContent).toContain(
    'PathExactly: start, Write, endQuestionsNobody is askedValuea is "a"',
  );
  await person.click(dialog.getByRole("button", { name: "Keep the test" }));
  await waitFor(() => expect(window.location.pathname).toBe(`/workflows/${workflowId}/tests`));
  const [kept] = await ask.tests.list({ workflow_id: workflowId });
  expect(window.location.search).toBe(`?test=${kept?.id}`);
  expect(kept).toMatchObject({
    name: "Letters as it went",
    last: { status: "passed", expected: 4, passed: 4 },
  });
});

test("a test that does not hold on today's workflow says so before it leads there", async () => {
  const { show, person, ask, workflowId } = await openRun();
  await ask.workflows.save({ id: workflowId, revision: 1, graph: draw("start > b > end") });
  show();
  const dialog = await dialogOf(person);
  await person.clear(dialog.getByRole("textbox", { name: "Name" }));
  expect(dialog.getByRole("button", { name: "Keep the test" })).toHaveProperty("disabled", true);
  await person.type(dialog.getByRole("textbox", { name: "Name" }), "As it was");
  await person.click(dialog.getByRole("button", { name: "Keep the test" }));
  const kept = within(await screen.findByRole("dialog", { name: "Kept as “As it was”" }));
  expect(kept.getByText("Cannot be run")).toBeTruthy();
  const [test] = await ask.tests.list({ workflow_id: workflowId });
  expect(kept.getByRole("link", { name: "Open the test" }).getAttribute("href")).toBe(
    `/workflows/${workflowId}/tests?test=${test?.id}`,
  );
});
