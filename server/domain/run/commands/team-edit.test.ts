import { describe, expect, test } from "vitest";
import type { NewEvent } from "../events";
import { crewRun, fold } from "../testing";
import { commandError } from "./command";
import { memberAfter, memberChanged, type TeamCommand, widening } from "./team-edit";
import { a, add, begin, change, changed, judge, reader, remove, role, running, writer } from "./testing";

describe("the member that a change makes", () => {
  const s = fold(...begin);
  const after = (command: TeamCommand, state = s) => memberAfter(state, command);

  test("has a name of its own, made of its role's where none is given", () => {
    const ids = [add("Writer"), add("Writer", { agent_id: "eve" }), add("ann"), add("★")].map(
      (command) => after(command)?.agent.agent_id,
    );
    expect(ids).toEqual(["writer", "eve", "ann_2", "member"]);
  });

  test("has what the change says, keeps what it does not name, and loses what it takes away", () => {
    const model = { provider_id: "p", model: "m" };
    const set = change("ann", { llm_config: model, backstory: "Be kind.", tools: ["read"] });
    const full = after(set);
    expect(full).toEqual({
      agent: expect.objectContaining({
        agent_id: "ann",
        role_name: "Writer",
        llm_config: model,
        backstory: "Be kind.",
      }),
      tools: ["read"],
    });
    const then = fold(...running, ...memberChanged(s, set, "ann"));
    expect(after(change("ann", { role_name: "Writer" }), then)).toEqual(full);
    const bare = after(change("ann", { llm_config: null, backstory: "", tools: null }), then);
    expect(Object.keys(bare ?? {})).toEqual(["agent"]);
    expect(Object.keys(bare?.agent ?? {}).filter((key) => key in (full?.agent ?? {}))).toEqual(
      Object.keys(full?.agent ?? {}).filter((key) => key !== "llm_config" && key !== "backstory"),
    );
    // Tools were chosen of a role: with another role they are chosen anew.
    expect(after(change("ann", { role_name: "Reader" }), then)).toEqual({
      agent: { ...full?.agent, role_name: "Reader" },
    });
    expect([after(remove("ann")), after(change("eve", { backstory: "x" }))]).toEqual([null, undefined]);
  });

  test("is written down with what the run needs to know of it", () => {
    const model_windows = { "p/m": 9000 };
    const command = { ...add("Judge", { tools: ["read"] }), role: judge, context_windows: model_windows };
    expect(memberChanged(s, command, "ann")).toEqual([
      {
        type: "member_changed",
        node_id: "crew",
        activation_id: "crew#1",
        payload: {
          agent_id: "judge",
          action: "added",
          agent: expect.objectContaining({ agent_id: "judge", role_name: "Judge" }),
          tools: ["read"],
          role: judge,
          context_windows: model_windows,
          by: "ann",
        },
      },
    ]);
    const idle = fold(...begin.slice(0, 1));
    expect(memberChanged(idle, { ...remove("bob"), role: writer }, "eve")).toEqual([
      { type: "member_changed", node_id: "crew", payload: { agent_id: "bob", action: "removed", by: "eve" } },
    ]);
    expect(memberChanged(s, change("eve", { backstory: "x" }), "ann")).toEqual([]);
    const [event] = memberChanged(s, { ...change("bob", { backstory: "x" }), role: writer }, "ann");
    expect(event?.payload).toEqual({
      agent_id: "bob",
      action: "changed",
      agent: expect.objectContaining({ agent_id: "bob", backstory: "x" }),
      by: "ann",
    });
  });
});

describe("a program may not widen what agents may use", () => {
  const narrow = (command: TeamCommand): TeamCommand => ({ ...command, only_narrows: true });
  const wider = (who: string, role_name: string, tools: string) =>
    `${who} would get tools that no ${role_name} in this crew can use now: ${tools}`;
  const less = changed("ann", "Writer", ["read"]);

  test.each<[string, TeamCommand, NewEvent[], string | null]>([
    ["a second one of a role that is there", add("Writer"), [], null],
    [
      "one of a role that nobody has",
      { ...add("Judge"), role: judge },
      [],
      wider("judge", "Judge", "read, mcp:law/*"),
    ],
    ["one of a role without tools", { ...add("Poet"), role: role("Poet") }, [], null],
    [
      "one of a role that nobody has with tools that others have",
      { ...add("Judge", { tools: ["read"] }), role: judge },
      [],
      wider("judge", "Judge", "read"),
    ],
    ["one that goes", remove("ann"), [], null],
    ["one that is not there", change("eve", { backstory: "x" }), [], null],
    ["fewer tools", change("ann", { tools: ["read"] }), [], null],
    [
      "the tools again that were taken",
      change("ann", { tools: null }),
      [less],
      wider("ann", "Writer", "read, write"),
    ],
    ["as few as before", change("ann", { backstory: "x" }), [less], null],
    ["a role that another member has", change("ann", { role_name: "Reader" }), [], null],
    ["a role that another member has with more tools", change("bob", { role_name: "Writer" }), [], null],
    [
      "a role that another member has, whose tools were taken",
      change("bob", { role_name: "Writer" }),
      [less],
      wider("bob", "Writer", "read, write"),
    ],
    [
      "a second one of a role whose tools were taken",
      add("Writer"),
      [less],
      wider("writer", "Writer", "read, write"),
    ],
    ["a second one with what the first was left", add("Writer", { tools: ["read"] }), [less], null],
  ])("by %s", (_what, command, events, reason) => {
    const state = fold(...begin, ...events);
    expect(widening(state, command)).toBe(reason);
    const known = commandError(a, state, narrow(command));
    if (reason !== null) expect(known).toBe(`Only a signed-in person can do this: ${reason}.`);
    else expect(known?.startsWith("Only a person") ?? false).toBe(false);
  });

  test("and may give one tool of a server that all of it may be used of", () => {
    const law = crewRun({ members: { ann: "Judge", bob: "Reader" }, roles: [judge, reader] });
    const state = fold(...law.begin);
    expect(widening(state, add("Judge", { tools: ["mcp:law/find"] }))).toBeNull();
    expect(widening(state, add("Judge", { tools: ["mcp:mail/find"] }))).toBe(
      wider("judge", "Judge", "mcp:mail/find"),
    );
  });
});
