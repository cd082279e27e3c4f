import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { newRunViewStore } from "./run-view-store";
import { StaleNote, StaleOutputs } from "./stale-note";

const drawing = (set: string) =>
  draw("start > a > b > end", {
    a: { name: "First", config: { set: { n: set } }, output_keys: ["n"] },
    b: { config: { set: { m: "state.n" } }, output_keys: ["m"] },
  });

test("the page of a run says which outputs may not hold since the drawing was changed, and why", async () => {
  const store = newRunViewStore((work) => work());
  const opened: string[] = [];
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId} page={{ openNode: (id) => opened.push(id) }}>
      {() => (
        <>
          <StaleOutputs />
          <StaleNote nodeId="a" />
          <StaleNote nodeId="start" />
        </>
      )}
    </OnRunPage>,
  );
  const { id } = await ask.workflows.create({ name: "Count", graph: drawing("1") });
  const { run_id: runId } = await ask.runs.start({ workflow_id: id });
  await troupe.host.settled(runId);
  const { revision } = present(troupe.workflows.find(id), "workflow");
  troupe.workflows.save({ id, revision, graph: drawing("2") });
  store.apply(troupe.runs.events(runId, 0, 500));
  store.flush();
  show();
  expect((await screen.findByRole("note")).textContent).toBe("May not hold any more: It was changed since.");
  await person.click(screen.getByText("3 outputs of this run may not hold any more"));
  expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "First: It was changed since.",
    "b: First, which comes before it, may give something else now.",
    "end: First, which comes before it, may give something else now.",
  ]);
  await person.click(screen.getByRole("button", { name: "First" }));
  expect(opened).toEqual(["a"]);
});
