import { expect, test } from "vitest";
import { newRun } from "@/server/domain/run";
import type { RunCommand } from "@/server/domain/run/commands/command";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { commandOf, readSaid } from "./said";
import { newStepping } from "./stepping";

/** A host that notes what it is told, and a person who says these lines. */
function stage(lines: string[], late: RunEvent[] = []) {
  const told: (RunCommand | string)[] = [];
  const heard: string[] = [];
  const go = newStepping(
    {
      command: (_run, command) => {
        told.push(command);
        return Promise.resolve({ command_id: "control#1", heard: late.splice(0, 1) });
      },
      cancel: (_run, { reason }) => told.push(reason) > 0,
    },
    "run_1",
    { say: (text) => void heard.push(text), ask: () => Promise.resolve(lines.shift() ?? "q") },
    { state: () => newRun(), roles: [] },
  );
  return { go, told, heard };
}

test("at a terminal a paused run is changed, gone through by a step, or cancelled", async () => {
  const { go, told, heard } = stage(["nonsense", "set n = 3", "remove m", "s"]);
  await go("ask");
  expect(told).toEqual([
    { kind: "edit_state", set: { n: 3 }, remove: [] },
    { kind: "edit_state", set: {}, remove: ["m"] },
    { kind: "step", granularity: "node" },
  ]);
  expect(heard).toEqual(["“nonsense” is none of them; ? lists them.\n"]);
  const { go: leave, told: left } = stage([]);
  await leave("ask");
  expect(left).toEqual(["Cancelled in the terminal"]);
});

test("what came too late is said, and asked again", async () => {
  const warning: RunEvent = {
    seq: 9,
    ts: 0,
    type: "warning",
    payload: { code: "COMMAND_TOO_LATE", message: "There is no “m” in the state." },
  };
  const { go, told, heard } = stage(["remove m", ""], [warning]);
  await go("ask");
  expect(heard).toEqual(["There is no “m” in the state.\n"]);
  expect(told.at(-1)).toEqual({ kind: "resume" });
});

test("a warning of the run itself is no refusal: it went on", async () => {
  const warning: RunEvent = { seq: 9, ts: 0, type: "warning", payload: { code: "TIE", message: "A tie." } };
  const { go, told, heard } = stage(["s"], [warning]);
  await go("ask");
  expect([told, heard]).toEqual([[{ kind: "step", granularity: "node" }], []]);
});

test("without anybody to ask it goes on with --yes, and is cancelled with the reason otherwise", async () => {
  const { go, told } = stage([]);
  await go("yes");
  await go("no");
  expect(told).toEqual([{ kind: "resume" }, expect.stringContaining("--yes")]);
});

test.each([
  ["", { kind: "resume" }],
  ["t", { kind: "step", granularity: "turn" }],
  ["set who=Ann = Bob", { kind: "edit_state", set: { who: "Ann = Bob" }, remove: [] }],
  ['set all={"a":[1]}', { kind: "edit_state", set: { all: { a: [1] } }, remove: [] }],
  ["set 1x=2", { kind: "unclear", message: expect.stringContaining("set KEY=VALUE") }],
  ["instruct Be brief.", { kind: "inject", target: { run: true }, text: "Be brief." }],
  ["instruct @ann Be brief.", { kind: "inject", target: { agent_id: "ann" }, text: "Be brief." }],
  ["instruct", { kind: "unclear", message: expect.stringContaining("instruct [@NAME] TEXT") }],
  ["next r east", { kind: "next", node: "r", to: "east" }],
  ["next r", { kind: "unclear", message: expect.stringContaining("next NODE TO") }],
  ['skip ask {"n": 2}', { kind: "skip", node: "ask", output: { n: 2 } }],
  ["skip ask two", { kind: "unclear", message: expect.stringContaining("JSON object") }],
  ["retry ask", { kind: "retry", node: "ask", output: {} }],
  ["signal paid", { kind: "signal", name: "paid", data: null }],
  ['signal paid {"by": "ann"}', { kind: "signal", name: "paid", data: { by: "ann" } }],
  ["team add Code Reviewer", { kind: "team", edit: { kind: "add", role_name: "Code Reviewer" } }],
  ["team remove ann", { kind: "team", edit: { kind: "remove", agent_id: "ann" } }],
  [
    "team model ann big",
    { kind: "team", edit: { kind: "change", agent_id: "ann", patch: { llm_config: { model: "big" } } } },
  ],
  ["team", { kind: "unclear", message: expect.stringContaining("team add ROLE") }],
  ["remove", { kind: "unclear", message: expect.stringContaining("remove KEY") }],
])("“%s” is understood", (line, said) => expect(readSaid(line)).toEqual(said));

test("what is said of nodes is meant for what came up of them, and names that are nodes' are", async () => {
  const graph = draw("start > r; r aside> aside > end; r east> east > end", {
    r: { config: { kind: "expression" } },
  });
  const stage = newStage();
  const id = stage.start(graph, { config: { breakpoints: [{ on: "node_start", node_id: "r" }] } });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  const state = stage.store.state(id)!;
  const told = (line: string) => {
    const said = readSaid(line);
    if (said.kind === "cancel" || said.kind === "help" || said.kind === "unclear") return said.kind;
    return commandOf(said, state, []);
  };
  expect([
    told("next r east"),
    told("next r ann"),
    told("skip r"),
    told("retry east"),
    told("instruct @east Go."),
    told("team add Writer"),
  ]).toEqual([
    { kind: "override_next", activation_id: "r#1", to: "east" },
    { kind: "override_agent", activation_id: "r#1", agent_id: "ann" },
    { kind: "skip_node", activation_id: "r#1", output: {} },
    "Nothing of “east” has come up in this run.",
    { kind: "inject", target: { node_id: "east" }, text: "Go." },
    "This workflow has no crew.",
  ]);
  stage.host.cancel(id, { by: "ann", reason: "" });
});
