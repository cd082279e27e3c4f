import { expect, test } from "vitest";
import { agent, of } from "@/server/conformance/stage";
import { answersTo, runTalk } from "./testing";

test("a member can write only its own bulletin but can read all of them", async () => {
  const { events, state } = await runTalk(
    [
      [
        "ann",
        ["read_board"],
        ["write_board", { bulletin: "found a key" }],
        ["write_board", { bulletin: "found the door", role_alias: "ANN" }],
        ["write_board", { bulletin: "bob is lost", role_alias: "bob" }],
        ["write_board", { bulletin: "nobody", role_alias: "dan" }],
      ],
      [
        "bob",
        ["read_board"],
        ["read_board", { role_alias: "Ann" }],
        ["read_board", { role_alias: "bob" }],
        ["read_board", { role_alias: "dan" }],
      ],
    ],
    { agents: ["ann", "bob"].map((name) => agent(name)) },
  );
  expect(of(events, "board_written")).toEqual([
    { alias: "ann", bulletin: "found a key" },
    { alias: "ann", bulletin: "found the door" },
  ]);
  expect(answersTo(state, "ann")).toEqual([
    [200, "{}"],
    [200, "The bulletin is on the board."],
    [200, "The bulletin is on the board."],
    [403, "You can only write your own bulletin, as ann."],
    [403, "You can only write your own bulletin, as ann."],
  ]);
  expect(answersTo(state, "bob")).toEqual([
    [200, '{"ann":"found the door"}'],
    [200, "found the door"],
    [200, "null"],
    [200, "null"],
  ]);
});
