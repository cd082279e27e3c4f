import { expect, test } from "vitest";
import type { RunCommand } from "@/server/domain/run/command";
import type { RunEvent } from "@/server/domain/run/events";
import { newStepping, readSaid } from "./stepping";

/** A host that notes what it is told, and a person who says these lines. */
function stage(lines: string[], late: RunEvent[] = []) {
  const told: (RunCommand | string)[] = [];
  const heard: string[] = [];
  const go = newStepping(
    {
      command: (_run, command) => {
        told.push(command);
        return Promise.resolve(late.splice(0, 1));
      },
      cancel: (_run, { reason }) => told.push(reason) > 0,
    },
    "run_1",
    { say: (text) => void heard.push(text), ask: () => Promise.resolve(lines.shift() ?? "q") },
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
  expect(heard).toEqual(["“nonsense” is none of them.\n"]);
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
  ["remove", { kind: "unclear", message: expect.stringContaining("remove KEY") }],
])("“%s” is understood", (line, said) => expect(readSaid(line)).toEqual(said));
