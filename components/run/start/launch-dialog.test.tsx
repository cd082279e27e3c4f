import { cleanup, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import type { CodeAreaProps } from "@/components/ui/input/code-area-editor";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { playFast } from "./demo-watch";
import { LaunchDialog } from "./launch-dialog";
import { RUN_MODES } from "./run-modes";

// CodeMirror can't be updated in a simulated DOM, which reports changes of the selection synchronously.
vi.mock("@/components/ui/input/code-area", () => ({
  CodeArea: ({ label, value, hint, onValueChange }: CodeAreaProps) => (
    <>
      <textarea aria-label={label} value={value} onChange={(event) => onValueChange(event.target.value)} />
      <p>{hint}</p>
    </>
  ),
}));

beforeEach(() => localStorage.clear());

const steps = draw("start > a > b > end");

/** The sheet that starts a workflow with this drawing. */
async function openSheet(graph: WorkflowGraph) {
  let workflowId = "";
  const Sheet = () => <LaunchDialog workflowId={workflowId} graph={graph} onClose={() => undefined} />;
  const page = openPage(<Sheet />);
  workflowId = (await page.ask.workflows.create({ name: "Steps", graph })).id;
  page.show();
  const { person, troupe } = page;
  await screen.findByRole("combobox", { name: "Mode" });
  return {
    /** Opens the dialog again. */
    again: { person, show: () => (cleanup(), page.show()) },
    paceOfLast: () => troupe.demoPace.of(window.location.pathname.split("/").at(-1) ?? ""),
    mode: () => screen.getByRole("combobox", { name: "Mode" }),
    async choose(name: RegExp) {
      await person.click(screen.getByRole("combobox", { name: "Mode" }));
      await person.click(await screen.findByRole("option", { name }));
    },
    /** The run that this button starts, as it rests. */
    async started(button: string) {
      await person.click(screen.getByRole("button", { name: button }));
      await waitFor(() => expect(window.location.pathname).toMatch(/\/runs\/run_/));
      const id = window.location.pathname.split("/").at(-1) ?? "";
      await waitFor(() => {
        const run = troupe.runs.state(id)?.run;
        expect(run?.paused_at ?? run?.final_status).toBeTruthy();
      });
      const { config, paused_at, final_status } = troupe.runs.state(id)?.run ?? {};
      return [config?.mode, paused_at?.node_id, final_status];
    },
  };
}

test("a run starts in the chosen mode", async () => {
  const node = { ...steps.nodes.b!, breakpoint: "before" as const };
  const { mode, choose, started } = await openSheet({ ...steps, nodes: { ...steps.nodes, b: node } });
  expect(mode().textContent).toBe(RUN_MODES[0]?.label);
  await choose(/^Supervised/);
  expect(await started("Start")).toEqual(["hitl", "b", undefined]);
});

test("the dialog preselects the workflow's mode, and a different choice applies to this run only", async () => {
  const graph = { ...steps, config: RunConfig.parse({ mode: "step" }) };
  const { mode, choose, started } = await openSheet(graph);
  expect(mode().textContent).toBe("Step by step");
  await choose(/^Continuous/);
  expect(await started("Start")).toEqual(["continuous", undefined, "COMPLETED"]);
});

test("“Run step by step” is available whatever mode is chosen", async () => {
  const { choose, started } = await openSheet(steps);
  await choose(/^Pause at marked nodes/);
  expect(await started("Run step by step")).toEqual(["step", "start", undefined]);
});

test("missing values are reported at their field, and the last inputs are prefilled next time", async () => {
  const graph = draw("start > end", { start: { output_keys: ["topic"] } });
  const { started, again } = await openSheet(graph);
  const topic = () => screen.getByLabelText<HTMLInputElement>(/^Topic/);
  expect(screen.queryByText("Required.")).toBeNull();
  await again.person.click(screen.getByRole("button", { name: "Start" }));
  expect(screen.getByText("Required.")).toBeTruthy();
  await again.person.type(topic(), "Bees");
  expect(await started("Start")).toEqual(["continuous", undefined, "COMPLETED"]);
  again.show();
  await waitFor(() => expect(topic().value).toBe("Bees"));
});

test("choosing an example, also after an error, focuses its field, and Ctrl+Enter starts the run", async () => {
  const graph = {
    ...draw("start > end", { start: { output_keys: ["topic"] } }),
    global_state_schema: {
      type: "object",
      properties: { topic: { type: "string", examples: ["Bees in cities"] } },
    },
  };
  const { again } = await openSheet(graph);
  await again.person.click(screen.getByRole("button", { name: "Start" }));
  await screen.findByText(/^Required/);
  await again.person.click(screen.getByRole("button", { name: "Try “Bees in cities”" }));
  expect(document.activeElement).toBe(screen.getByLabelText(/^Topic/));
  await again.person.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(window.location.pathname).toMatch(/\/runs\/run_/));
});

test("a list input starts with the example of its schema", async () => {
  const graph = {
    ...draw("start > end", { start: { output_keys: ["tickets"] } }),
    global_state_schema: {
      type: "object",
      properties: { tickets: { type: "array", items: { type: "string" }, examples: [["It is broken"]] } },
    },
  };
  const { again } = await openSheet(graph);
  await again.person.click(screen.getByRole("button", { name: "Use example" }));
  await again.person.click(screen.getByRole("button", { name: "Start" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/\/runs\/run_/));
});

test("warnings are counted in one line and link to their locations", async () => {
  const graph = draw("start > a > which; which yes> end; which no> b; lost > end", {
    which: {
      node_type: "conditional_router",
      config: { kind: "expression", conditions: [{ label: "yes", when: "1 == 1" }] },
    },
  });
  const { again } = await openSheet(graph);
  const line = screen.getByText(/^\d+ warnings\. 1 may stop the run\.$/);
  await again.person.click(line);
  const link = screen.getByRole("link", { name: /fails the run/ });
  expect(link.getAttribute("href")).toMatch(/\?node=which$/);
});

test("demo runs are slowed down until a person skips", async () => {
  const first = await openSheet(steps);
  await first.started("Start");
  expect(first.paceOfLast()).toBe("slow");
  cleanup();
  playFast();
  const second = await openSheet(steps);
  await second.started("Start");
  expect(second.paceOfLast()).toBeUndefined();
});
