import { fireEvent, render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { approvalRun } from "@/components/run/run-example";
import { StateView } from "@/components/run/state-view";
import { Scrubber } from "@/components/run/timeline/scrubber";
import type { RunEvent } from "@/server/domain/run/events";
import { AsSentDialog } from "./as-sent";
import { FindingsView, useFindings } from "./findings";
import { WhenSearch } from "./when-search";

let store: RunViewStore;
beforeEach(() => {
  store = new RunViewStore((work) => work());
  store.apply(approvalRun);
});
const show = (part: React.ReactNode) => render(<RunProvider store={store}>{part}</RunProvider>);
const cursor = () => store.view.getState().cursor;
const press = (key: string, more: object = {}) => fireEvent.keyDown(window, { key, ...more });
const seqOf = (type: RunEvent["type"], at = 0) =>
  approvalRun.filter((event) => event.type === type)[at]?.seq ?? null;

test("keyboard shortcuts move through a run by event, turn or node, and between writes of a key", () => {
  show(<Scrubber />);
  press(",");
  expect(cursor()).toBe(approvalRun.length - 1);
  press("t");
  press(",");
  expect(cursor()).toBe(seqOf("iteration_started"));
  press("t");
  press(".");
  expect(cursor()).toBe(seqOf("node_started", 2));
  press(",");
  expect(cursor()).toBe(seqOf("node_started", 1));
  press("e");
  expect(cursor()).toBeNull();
});

test("each step in the past shows its changes", () => {
  show(<Scrubber />);
  const patched = seqOf("state_patched");
  fireEvent.change(screen.getByRole("slider", { name: "Timeline position" }), { target: { value: patched } });
  const steps = screen.getByRole("region", { name: "Timeline navigation" });
  expect(within(steps).getByRole("button", { name: /^Changes:/ }).textContent).toContain(
    "approval_status: approved",
  );
  press(".");
  expect(within(steps).getByText("No state changes.")).toBeDefined();
});

test("a state key shows who wrote it and links to that moment", () => {
  show(<StateView onSelectNode={() => {}} />);
  fireEvent.click(screen.getByRole("button", { name: /History of approval_status/ }));
  const history = screen.getByRole("list", { name: "History of approval_status" });
  expect(history.textContent).toContain("Written by Get approval, Approval agent");
  expect(history.textContent).toContain("Previously not set");
  fireEvent.click(within(history).getByRole("button"));
  expect(cursor()).toBe(seqOf("state_patched"));
});

test("“Find when true” finds when a condition became true and reports invalid expressions", async () => {
  show(<WhenSearch />);
  const box = screen.getByRole("textbox", { name: "Find when true" });
  fireEvent.change(box, { target: { value: "state.approval_status == 'approved'" } });
  const find = screen.getByRole("button", { name: "Find" });
  fireEvent.click(find);
  const found = screen.getByRole("list", { name: "When it became true" });
  expect(found.textContent).toContain("by Get approval");
  fireEvent.click(within(found).getByRole("button"));
  expect(cursor()).toBe(seqOf("state_patched"));
  fireEvent.change(box, { target: { value: "state.approval_status ==" } });
  fireEvent.click(find);
  expect(await screen.findByText("The expression is incomplete.")).toBeDefined();
});

test("a call shows its prompt as it was sent", () => {
  show(<AsSentDialog callId="call_1" onClose={() => {}} />);
  const sent = screen.getByRole("list", { name: "Messages sent" });
  expect(
    within(sent)
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual([
    expect.stringContaining("You are ApprovalAgent."),
    expect.stringContaining("Decide: Please approve my vacation for next week."),
  ]);
  expect(screen.queryByRole("note")).toBeNull();
});

function Found() {
  const findings = useFindings();
  return findings.length > 0 ? <FindingsView findings={findings} /> : <p>Nothing found</p>;
}

test("diagnostics link to their moment and are absent if there are none", async () => {
  const clean = show(<Found />);
  expect(screen.getByText("Nothing found")).toBeDefined();
  clean.unmount();
  store = new RunViewStore((work) => work());
  const at = seqOf("state_patched") ?? 0;
  const conflict = {
    type: "state_conflict" as const,
    payload: {
      key: "approval_status",
      writers: ["get#1", "start#1"] as [string, string],
      winner: "get#1",
      policy: "topological_order" as const,
    },
  };
  const events = [...approvalRun.slice(0, at), conflict, ...approvalRun.slice(at)];
  store.apply(events.map((event, place) => ({ ...event, seq: place + 1, ts: place })));
  show(<Found />);
  const list = await screen.findByRole("list", { name: "Diagnostics" });
  expect(list.textContent).toContain("Work overwritten");
  fireEvent.click(within(list).getByRole("button", { name: /Go to this point/ }));
  expect(cursor()).toBe(at + 1);
});
