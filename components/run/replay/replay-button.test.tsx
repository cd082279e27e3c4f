import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { useReplay } from "./replay-button";

function Replay({ runId }: { runId: () => string }) {
  const { entry, dialog } = useReplay(runId(), null);
  if (typeof entry === "string" || !("onSelect" in entry)) return null;
  return (
    <>
      <button type="button" onClick={entry.onSelect}>
        {entry.label}
      </button>
      {dialog}
    </>
  );
}

test("replaying a run uses its recorded answers and opens the replay", async () => {
  let runId = "";
  const { ask, troupe, person, show } = openPage(<Replay runId={() => runId} />);
  const { id } = await ask.workflows.create({ name: "Steps", graph: draw("start > a > end") });
  ({ run_id: runId } = await ask.runs.start({ workflow_id: id }));
  await troupe.host.settled(runId);
  show();
  await person.click(screen.getByRole("button", { name: "Replay run" }));
  const dialog = await screen.findByRole("dialog", { name: "Replay run" });
  expect(within(dialog).getByText(/^No calls are made/)).toBeDefined();
  await person.click(within(dialog).getByRole("radio", { name: "Lenient" }));
  expect(within(dialog).getByText(/^Asks you before each unrecorded request/)).toBeDefined();
  await person.click(within(dialog).getByRole("button", { name: "Replay" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/^\/workflows\/-\/runs\/run_/));
  const replay = window.location.pathname.split("/").at(-1) ?? "";
  await troupe.host.settled(replay);
  expect(troupe.runs.state(replay)?.run.forks?.[0]).toMatchObject({ replay: "lenient" });
});
