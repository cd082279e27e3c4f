import { expect, test } from "vitest";
import { commandWords, doneBy, type RepeatedCommand, worthRepeating } from "./repeated";

const told = (command: RepeatedCommand["command"], more: Partial<RepeatedCommand> = {}): RepeatedCommand => ({
  after: ["start#1/1", "write#2/1/Worker/turn0"],
  by: "ann",
  command,
  ...more,
});
const edit = told({ kind: "edit_state", set: { n: 1 }, remove: ["m"] }, { while_paused: true });
const graph = { nodes: { write: { name: "Write" } } };

test("what people told a run is said with who did it and where", () => {
  expect(commandWords(edit, graph)).toBe(
    "ann, after Write, the 2. time, while it is paused: changed the state: n, m",
  );
  expect(commandWords(told({ kind: "resume" }, { after: [] }), graph)).toBe("ann, right then: lets it go on");
  expect(doneBy([edit, told({ kind: "resume" }), edit])).toEqual(["changed the state (2 times)"]);
});

test("where nobody did more than pause and go on there is nothing to repeat", () => {
  const held = [told({ kind: "pause" }), told({ kind: "step", granularity: "node" })];
  expect(worthRepeating(held)).toEqual([]);
  expect(worthRepeating([...held, edit])).toHaveLength(3);
});
