import { screen, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { RunViewStore } from "../live/run-view-store";
import { RunProvider } from "../run-context";
import { approvalRun } from "../run-example";
import { type RunPage, RunPageProvider } from "../run-page-context";
import { RunAgainProvider } from "../start/run-again";
import { ResultView } from "./result-view";

const END = approvalRun.length - 1;
/** The example's run, with another end. */
const endedWith = (payload: Partial<Extract<NewEvent, { type: "run_finished" }>["payload"]>): RunEvent[] =>
  approvalRun.map((event) =>
    event.type === "run_finished" ? { ...event, payload: { ...event.payload, ...payload } } : event,
  );
const withOutput = (output: JsonObject) =>
  endedWith({ output }).map((event) =>
    event.type === "node_completed" && event.node_id === "yes"
      ? { ...event, payload: { ...event.payload, output } }
      : event,
  );

function open(events: readonly RunEvent[], page: Partial<RunPage> = {}) {
  const store = new RunViewStore((work) => work());
  store.apply(events);
  const whole: RunPage = {
    runId: "run_1",
    held: null,
    onResumed: vi.fn(),
    openFile: vi.fn(),
    openCrew: vi.fn(),
    openNode: vi.fn(),
    openAsks: vi.fn(),
    ...page,
  };
  const around = (inner: ReactNode) => (
    <RunProvider store={store}>
      <RunAgainProvider runId="run_1" workflowId="wf_1">
        <RunPageProvider value={whole}>{inner}</RunPageProvider>
      </RunAgainProvider>
    </RunProvider>
  );
  const opened = openPage(around(<ResultView />));
  opened.show();
  return { ...opened, page: whole };
}
const result = () => screen.getByRole("region", { name: "Result" });

test("the output comes first, and the input is collapsed", async () => {
  open(approvalRun);
  expect(within(result()).getByText("Approval status")).toBeTruthy();
  await within(result()).findByText("approved");
  expect(screen.getByText("Input").closest("details")?.open).toBe(false);
});

test("a simulated result is labeled as a demo", () => {
  open(approvalRun);
  expect(within(result()).getByText(/^Demo/).textContent).toBe("Demo, not written by an AI");
});

test.each<[string, Json, string, string]>([
  ["a text result is rendered as Markdown", "# Plan\n\n- one", "heading", "Plan"],
  ["a list of objects is rendered as a table", [{ city: "Bern", people: 134 }], "columnheader", "City"],
])("%s", async (_what, value, role, name) => {
  open(withOutput({ answer: value }));
  await within(result()).findByRole(role, { name });
});

test("an object is shown with its field names and can be viewed as JSON", async () => {
  const { person } = open(withOutput({ verdict: { is_sound: true, open_points: ["cost", "time"] } }));
  expect(within(result()).getByText("Is sound").nextElementSibling?.textContent).toBe("Yes");
  expect(within(result()).getByText("cost, time")).toBeTruthy();
  await person.click(within(result()).getByRole("radio", { name: "JSON" }));
  expect(within(result()).getByText("is_sound:")).toBeTruthy();
});

test("HTML in a result is shown as text", async () => {
  open(withOutput({ answer: "<img src=x onerror=alert(1)>" }));
  await within(result()).findByText("<img src=x onerror=alert(1)>");
  expect(result().querySelector("img")).toBeNull();
});

test("a failed run shows the full error, its location and a fix", async () => {
  const message = `The model's answer did not have the asked form: ${"approval_status is missing. ".repeat(8)}`;
  const { person, page } = open(
    endedWith({
      final_status: "ERROR",
      reason_code: "TRANSIENT",
      output: {},
      error: { code: "TRANSIENT", message, retryable: true, user_action: "edit_graph", node_id: "get" },
    }),
  );
  const outcome = screen.getByRole("region", { name: "Outcome" });
  expect(outcome.textContent).toContain(message);
  expect(within(outcome).getByText("Get approval failed.")).toBeTruthy();
  await person.click(within(outcome).getByRole("button", { name: "Open node" }));
  expect(page.openNode).toHaveBeenCalledWith("get");
});

test("a failed run has one primary action and doesn't repeat its advice", () => {
  open(
    endedWith({
      final_status: "ERROR",
      reason_code: "CONFIG",
      output: {},
      error: {
        ...{
          code: "CONFIG",
          message: "Get approval: no value.",
          retryable: false,
          user_action: "edit_graph",
        },
        ...{ node_id: "get", activation_id: "get#1" },
      },
    }),
  );
  const outcome = screen.getByRole("region", { name: "Outcome" });
  const labels = [...outcome.querySelectorAll("a, button")].map(({ textContent }) => textContent);
  // The last two are in the header if there is room.
  expect(labels).toEqual(["Edit workflow", "Open node", "Rerun", "Edit input"]);
  expect(outcome.textContent).not.toContain("Edit the workflow");
  expect(outcome.textContent).not.toContain("failed.");
});

test("a completed run is summarized in one line above its result", () => {
  open(approvalRun);
  const outcome = screen.getByRole("region", { name: "Outcome" });
  expect(outcome.textContent).toMatch(/Approved by ApprovalAgent · 1 call · \$0 · 2\.9 s/);
});

test("a run that failed to authenticate links to the provider settings", () => {
  open(
    endedWith({
      final_status: "ERROR",
      reason_code: "AUTH",
      error: { code: "AUTH", message: "The key was refused.", retryable: false, user_action: "settings" },
    }),
  );
  expect(screen.getByRole("link", { name: "Change provider" }).getAttribute("href")).toBe("/settings");
});

test("a run that reached a limit offers to raise it", () => {
  open(
    endedWith({
      final_status: "INCOMPLETE",
      reason_code: "MAX_STEPS",
      resumable: ["max_steps"],
      error: { code: "MAX_STEPS", message: "At most 2 nodes.", retryable: true, user_action: "raise_limit" },
    }),
  );
  expect(screen.getByRole("button", { name: "Raise limit and resume" })).toBeTruthy();
});

test("a quarantined run shows its reason and offers to retry or cancel", () => {
  open(approvalRun.slice(0, 12), {
    held: {
      ...{ code: "stopped_server", message: "The server ended twice." },
      ...{ at: 1_700_000_000_000, retry_at: new Date(2026, 0, 1, 9, 5, 7).getTime() },
    },
  });
  const outcome = screen.getByRole("region", { name: "Outcome" });
  expect(outcome.textContent).toContain("The server ended twice.");
  expect(outcome.textContent).toContain("Next retry at 09:05:07");
  expect(within(outcome).getByRole("button", { name: "Retry" })).toBeTruthy();
  expect(within(outcome).getByRole("button", { name: "Cancel" })).toBeTruthy();
});

test("an unfinished run shows no result", () => {
  open(approvalRun.slice(0, END));
  expect(screen.queryByRole("region", { name: "Result" })).toBeNull();
  expect(screen.getByText("The result appears here when the run finishes.")).toBeTruthy();
});
