import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";
import { newStepping } from "./stepping";

/** A paused run of this drawing, and a person who types these lines. */
async function newPausedRun(drawing: ReturnType<typeof draw>, node_id: string, lines: string[]) {
  const api = newApi(() => "done");
  for (const name of ["Writer", "Reader", "Code Reviewer"]) api.roles.put(RoleDefinition.parse({ name }));
  const workflow_id = api.workflows.create({ name: "x", graph: drawing });
  const started = api.startRun({
    workflow_id,
    input: { m: 1 },
    config: { breakpoints: [{ on: "node_start", node_id }] },
    trigger: "cli",
  });
  const id = started!.run_id;
  await expect.poll(() => api.runs.find(id)?.status).toBe("paused");
  const printed: string[] = [];
  const go = newStepping(api, id, {
    print: (text) => void printed.push(text.trim()),
    ask: () => Promise.resolve(lines.shift() ?? "q"),
  });
  const state = () => api.runs.state(id)!;
  const ended = () => expect.poll(() => api.runs.find(id)?.final_status).not.toBeNull();
  return { api, id, go, printed, state, ended };
}

const workflow = draw("start > set > r; r aside> aside > end; r east> east > end", {
  set: { output_keys: ["r"], config: { set: { r: "'aside'" } } },
  aside: { output_keys: ["by"], config: { set: { by: "'aside'" } } },
  east: { output_keys: ["by"], config: { set: { by: "'east'" } } },
});

test("a paused run is edited, rerouted and resumed at a terminal", async () => {
  const lines = ["nonsense", "set n = 3", 'set all={"a": [1]}', "set who=Ann = Bob", "remove m", "set 1x=2"];
  const { go, printed, state, ended } = await newPausedRun(workflow, "r", [
    ...lines,
    "remove",
    "next r east",
    "next r",
    "retry east",
    "skip r two",
    "instruct",
    "",
  ]);
  await go("ask");
  await ended();
  expect(state().state).toMatchObject({ n: 3, all: { a: [1] }, who: "Ann = Bob", by: "east" });
  expect(state().state).not.toHaveProperty("m");
  expect(printed).toEqual([
    'Unknown command "nonsense". Enter ? to list the commands.',
    "set.1x: Invalid key in record.",
    "Missing KEY. Usage: remove KEY...",
    expect.stringContaining("Specify a node that has started, and what comes next: a node (`to`) or an"),
    "Specify a failed node to retry.",
    "two: use KEY=VALUE.",
    "Missing TEXT. Usage: instruct [@NAME] TEXT...",
  ]);
});

test("the terminal adds members to a crew and sends them instructions", async () => {
  const graph = draw("start > crew > end", { crew: writersNode() });
  const { go, printed, state, ended } = await newPausedRun(graph, "crew", [
    "team add Code Reviewer",
    "instruct @ann Be brief.",
    "instruct @crew Be kind.",
    "team remove nobody",
    "team",
    "?",
  ]);
  await go("ask");
  await ended();
  expect(state().run.final_status).toBe("CANCELLED");
  expect(Object.keys(state().team_changes.crew ?? {})).toEqual(["code_reviewer"]);
  expect(state().instructions.map(({ target, text }) => [target, text])).toEqual([
    [{ agent_id: "ann" }, "Be brief."],
    [{ node_id: "crew" }, "Be kind."],
  ]);
  expect(printed[1]).toBe(
    "Usage: team add ROLE\n       team change AGENT\n       team model AGENT MODEL\n       team remove AGENT",
  );
  expect(printed[2]).toContain("signal NAME [VALUE]");
});

test("a step runs one node", async () => {
  const { go, id, api, state } = await newPausedRun(workflow, "r", ["s"]);
  await go("ask");
  await expect.poll(() => api.runs.find(id)?.status).toBe("paused");
  expect(state().run.paused_at?.reason).toBe("step");
  await go("ask");
  await expect.poll(() => api.runs.find(id)?.final_status).toBe("CANCELLED");
});

test("a pause without a terminal is resumed with --yes and otherwise cancels the run with a reason", async () => {
  const yes = await newPausedRun(workflow, "r", []);
  await yes.go("yes");
  await yes.ended();
  const no = await newPausedRun(workflow, "r", []);
  await no.go("no");
  await no.ended();
  expect(yes.state().run.final_status).not.toBe("CANCELLED");
  expect(no.state().run.final_status).toBe("CANCELLED");
  expect(no.printed).toEqual([expect.stringContaining("--yes")]);
});
