import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { NodeList } from "@/components/canvas/node-list";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { RunViewStore } from "../live/run-view-store";
import { StaleCards, StaleNote, StaleOutputs } from "./stale-note";

const drawing = (set: string) =>
  draw("start > a > b > end", {
    a: { name: "First", config: { set: { n: set } }, output_keys: ["n"] },
    b: { config: { set: { m: "state.n" } }, output_keys: ["m"] },
  });

test("the run page lists outputs made stale by workflow changes, with reasons", async () => {
  const store = new RunViewStore((work) => work());
  const opened: string[] = [];
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId} page={{ openNode: (id) => opened.push(id) }}>
      {() => (
        <>
          <StaleOutputs />
          <StaleNote nodeId="a" />
          <StaleNote nodeId="start" />
          <StaleCards>
            <NodeList graph={drawing("1")} selected={new Set()} onPick={() => {}} />
          </StaleCards>
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
  expect((await screen.findByRole("note")).textContent).toBe("May be out of date: It has been edited since.");
  await person.click(screen.getByText("3 outputs may be out of date"));
  expect(
    within(screen.getByRole("group"))
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual([
    "First: It has been edited since.",
    "b: First, an upstream node, may now return a different output.",
    "end: First, an upstream node, may now return a different output.",
  ]);
  await person.click(within(screen.getByRole("group")).getByRole("button", { name: "First" }));
  expect(opened).toEqual(["a"]);
  // So do the nodes of the drawing, each with the reason.
  expect(
    within(screen.getByRole("list", { name: "Nodes in reading order" }))
      .getAllByTitle(/^May be out of date/)
      .map(({ title }) => title),
  ).toEqual([
    "May be out of date: It has been edited since.",
    "May be out of date: First, an upstream node, may now return a different output.",
    "May be out of date: First, an upstream node, may now return a different output.",
  ]);
  expect(
    screen.getByRole("button", { name: /First.* May be out of date: It has been edited since\./ }),
  ).toBeTruthy();
});
