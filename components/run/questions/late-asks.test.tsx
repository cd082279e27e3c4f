import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { LateAsks } from "./asks";

/** The bar over a run that asked in passing and has ended. */
async function ended() {
  const store = new RunViewStore((work) => work());
  const shown = { runId: "" };
  const Bar = () => (
    <OnRunPage store={store} runId={() => shown.runId}>
      {() => <LateAsks />}
    </OnRunPage>
  );
  const page = openPage(<Bar />);
  const { id } = await page.ask.workflows.create({
    name: "Letters",
    graph: draw("start > gate; gate yes> good; gate no> end", {
      gate: {
        id: "gate",
        node_type: "approval_gate",
        output_keys: ["decision"],
        config: {
          title: "Was it kind?",
          options: ["yes", "no"],
          mode: "advisory",
          default_response: "yes",
        },
      },
      good: { node_type: "end" },
    }),
  });
  shown.runId = (await page.ask.runs.start({ workflow_id: id })).run_id;
  await page.troupe.host.settled(shown.runId);
  store.apply(page.troupe.runs.events(shown.runId, 0, 1e6));
  page.show();
  return { ...page, runId: shown.runId };
}

test("an advisory question accepts an answer after the run ended and records it as late", async () => {
  const { person, troupe, runId } = await ended();
  screen.getByText("Was it kind?");
  screen.getByText(/The run ended without waiting for this answer\./);
  await person.click(screen.getByRole("button", { name: "View question" }));
  const question = await screen.findByRole("region", { name: "Question: Was it kind?" });
  await person.click(within(question).getByRole("button", { name: "no" }));
  await waitFor(() =>
    expect(troupe.host.steering.answered(runId, "gate#1/1/approval")).toMatchObject({
      option: "no",
      late: true,
    }),
  );
  expect(troupe.runs.state(runId)?.state.decision).toBe("yes");
  await waitFor(() => expect(within(question).queryByRole("button", { name: "no" })).toBeNull());
  await within(question).findByText(/after the run ended/);
});
