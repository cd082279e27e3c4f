import { screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { makeOf, tryOutsOf } from "@/components/run/try-out/try-out-store";
import { openPage } from "@/components/testing/page";
import { must } from "@/server/domain/base/must";
import { CommandsContext } from "../commands";
import { EditorContext } from "../editing/editor-store";
import { sampleGraph } from "../testing";
import { openEditor } from "../testing-editor";
import { LastResult } from "./last-result";

const graph = sampleGraph();
const ask = must(graph.nodes, "ask");
const last = {
  run_id: "run_1",
  status: "completed" as const,
  at: Date.now(),
  input: {},
  output: { answer: "A long weekend" },
  made_of: makeOf(ask),
  stale: null,
};

function open(node = ask) {
  const { store, commands, ui } = openEditor(graph);
  const page = openPage(
    <EditorContext.Provider value={store}>
      <CommandsContext.Provider value={commands}>
        <LastResult graph={graph} node={node} />
      </CommandsContext.Provider>
    </EditorContext.Provider>,
  );
  page.show();
  return { ...page, ui };
}

test("a form shows its node's last result and can try the node", async () => {
  tryOutsOf("wf").setLast({ ask: last });
  const { person, ui } = open();
  expect(screen.getByText(/A long weekend/, { selector: "section > p" }).textContent).toMatch(
    /^Last run, .*: A long weekend$/,
  );
  expect(screen.queryByText(/May be out of date/)).toBeNull();
  await person.click(screen.getByRole("button", { name: "Try this node" }));
  expect(ui.getState().tryOut).toEqual({ what: "try", nodeId: "ask" });
});

test("a result becomes stale after its node changes", () => {
  tryOutsOf("wf").setLast({ ask: last });
  open({ ...ask });
  expect(screen.queryByText(/May be out of date/)).toBeNull();
  tryOutsOf("wf").setLast({ ask: { ...last, made_of: "another" } });
  return waitFor(() =>
    expect(screen.getByText("May be out of date: The node has been edited since")).toBeTruthy(),
  );
});

test("a node that no run reached shows that, except for a start node", () => {
  tryOutsOf("wf").setLast({});
  open();
  expect(screen.getByText("No run has reached this node yet.")).toBeTruthy();
  vi.unstubAllGlobals();
  open(must(graph.nodes, "start"));
  expect(screen.getAllByRole("region", { name: "Last result" })).toHaveLength(1);
});
