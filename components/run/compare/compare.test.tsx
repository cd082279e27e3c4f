import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { approvalRun } from "@/components/run/run-example";
import { foldRun } from "@/server/domain/run";
import { compareRuns } from "@/server/domain/run/compare/compare";
import { firstDivergence } from "@/server/domain/run/compare/divergence";
import { compareOnCanvas } from "./compare-canvas";
import { Compared } from "./compare-screen";
import { WordDiff } from "./word-diff";

vi.mock("@/components/canvas/graph-canvas", () => ({
  CanvasProvider: ({ children }: { children: React.ReactNode }) => children,
  GraphCanvas: ({ label }: { label: string }) => <p>{label}</p>,
}));

Element.prototype.scrollIntoView = vi.fn();

const summary = (created_at: number, input_excerpt: string) => ({
  workflow_id: "wf_1",
  workflow_name: "Approval",
  created_at,
  input_excerpt,
});
const runs = {
  a: summary(Date.UTC(2026, 10, 24, 12), "A holiday"),
  b: summary(Date.UTC(2026, 10, 24, 13), "A yacht"),
};

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

test("a comparison shows the first difference and highlights changed text", () => {
  render(
    <Compared
      {...{ a: "a", b: "b", runs }}
      comparison={compareRuns(run, other)}
      divergence={firstDivergence(approvalRun, otherwise)}
    />,
  );
  const panel = screen.getByRole("complementary", { name: "Differences" });
  expect(panel.textContent).toContain("First difference at Get approval: different output.");
  const state = within(panel).getByRole("region", { name: "State" });
  expect(state.textContent).toContain("approver_commentsEnjoy it.");
  const same = within(panel).getByRole("region", { name: "Same request, different response" });
  expect(same.textContent).toContain(
    "The model for Approval agent (Get approval) received the same prompt in both runs",
  );
  const steps = within(panel).getByRole("region", { name: "Steps" });
  fireEvent.click(within(steps).getByRole("button", { name: /Request/ }));
  expect(within(panel).getByRole("region", { name: "Request" }).textContent).toContain("Same in both");
});

test("each compared run shows its workflow, start and input, and links to its page", () => {
  render(<Compared {...{ a: "a", b: "b", runs }} comparison={compareRuns(run, other)} divergence={null} />);
  for (const [name, id, input] of [
    ["Run A", "a", "A holiday"],
    ["Run B", "b", "A yacht"],
  ] as const) {
    const one = screen.getByRole("region", { name });
    expect(one.textContent).toMatch(new RegExp(`^${name.at(-1)}Approval, 24 Nov 2026, .*Completed${input}$`));
    expect(within(one).getByRole("link").getAttribute("href")).toBe(`/workflows/wf_1/runs/${id}`);
  }
});

test("different inputs are reported as such, not as different outputs of the start node", () => {
  const asked = foldRun(
    "b",
    approvalRun.map((event) =>
      event.type === "run_created"
        ? { ...event, payload: { ...event.payload, input: { user_request: "A yacht" } } }
        : event.type === "node_completed" && event.node_id === "start"
          ? { ...event, payload: { ...event.payload, output: { user_request: "A yacht" } } }
          : event,
    ),
  );
  render(<Compared {...{ a: "a", b: "b", runs }} comparison={compareRuns(run, asked)} divergence={null} />);
  const panel = screen.getByRole("complementary", { name: "Differences" });
  expect(panel.textContent).toContain("Different inputs: “user_request”.");
  expect(panel.textContent).not.toContain("First difference at");
});

test("differences are listed first, and the step search is collapsed", () => {
  render(
    <Compared
      {...{ a: "a", b: "b", runs }}
      comparison={compareRuns(run, other)}
      divergence={null}
      bisect={() => <p>Find it</p>}
    />,
  );
  const panel = screen.getByRole("complementary", { name: "Differences" });
  const finder = within(panel).getByText("Bisect: find deciding step").closest("details");
  expect(finder?.open).toBe(false);
  expect(panel.lastElementChild).toBe(finder);
});

test("nodes and edges that only one run reached have that run's color on the canvas", () => {
  const short = {
    ...other,
    activations: Object.fromEntries(Object.entries(other.activations).slice(0, 1)),
    edges: {},
  };
  const canvas = compareOnCanvas(compareRuns(run, short));
  expect([canvas.node("start")?.only, canvas.node("get")?.only]).toEqual([undefined, "a"]);
  const taken = Object.keys(run.edges)[0] ?? "";
  expect(canvas.edge(taken)?.only).toBe("a");
});

test("two identical runs are reported as identical", () => {
  render(<Compared {...{ a: "a", b: "b", runs }} comparison={compareRuns(run, run)} divergence={null} />);
  expect(screen.getByText("No differences.")).toBeDefined();
});

test("removed words are struck through and added words are highlighted", () => {
  render(<WordDiff before="The owl is white." after="The barn owl is white." />);
  expect(screen.getByText("barn").closest("ins")).not.toBeNull();
  expect(screen.queryAllByRole("deletion")).toEqual([]);
});
