import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { approvalRun } from "@/components/run/run-example";
import { foldRun } from "@/server/domain/run";
import { compareRuns } from "@/server/domain/run/compare/compare";
import { parted } from "@/server/domain/run/compare/parted";
import { Compared } from "./compare-screen";
import { WordDiff } from "./word-diff";

vi.mock("@/components/canvas/graph-canvas", () => ({
  CanvasProvider: ({ children }: { children: React.ReactNode }) => children,
  GraphCanvas: ({ label }: { label: string }) => <p>{label}</p>,
}));

const run = foldRun("a", approvalRun);
const otherwise = approvalRun.map((event) =>
  event.type === "llm_call_completed"
    ? { ...event, payload: { ...event.payload, content: "Enjoy it very much." } }
    : event,
);
const other = foldRun(
  "b",
  approvalRun.map((event) =>
    event.type === "state_patched"
      ? {
          ...event,
          payload: { ...event.payload, set: { ...event.payload.set, approver_comments: "Enjoy it." } },
        }
      : event.type === "node_completed" && event.node_id === "get"
        ? {
            ...event,
            payload: {
              ...event.payload,
              output: { approval_status: "approved", approver_comments: "Enjoy it." },
            },
          }
        : event,
  ),
);

test("two runs tell from where on they are other, and what words are", () => {
  render(
    <Compared a="a" b="b" comparison={compareRuns(run, other)} parted={parted(approvalRun, otherwise)} />,
  );
  const panel = screen.getByRole("complementary", { name: "What is other" });
  expect(panel.textContent).toContain("The same up to Get approval: it gave something else.");
  const state = within(panel).getByRole("region", { name: "State" });
  expect(state.textContent).toContain("approver_commentsEnjoy it.");
  const same = within(panel).getByRole("region", { name: "Asked the same, answered otherwise" });
  expect(same.textContent).toContain(
    "The model of Approval agent (Get approval) was sent the very same prompt",
  );
  const steps = within(panel).getByRole("region", { name: "Steps" });
  fireEvent.click(within(steps).getByRole("button", { name: /Request/ }));
  expect(within(panel).getByRole("region", { name: "Request" }).textContent).toContain("Same in both");
});

test("two runs that did the same say so", () => {
  render(<Compared a="a" b="b" comparison={compareRuns(run, run)} parted={null} />);
  expect(screen.getByText("Both runs did the same, step by step.")).toBeDefined();
});

test("removed words are struck out, added ones stand out", () => {
  render(<WordDiff before="The owl is white." after="The barn owl is white." />);
  expect(screen.getByText("barn").closest("ins")).not.toBeNull();
  expect(screen.queryAllByRole("deletion")).toEqual([]);
});
