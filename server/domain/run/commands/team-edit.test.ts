import { describe, expect, test } from "vitest";
import type { NewEvent } from "../events";
import { crewRun, fold } from "../testing";
import { commandError } from "./command";
import { memberAfter, memberChanged, type TeamCommand, widening } from "./team-edit";
import { a, add, begin, change, changed, judge, reader, remove, role, running, writer } from "./testing";

describe("the member after a team edit", () => {
  const s = fold(...begin);
  const after = (command: TeamCommand, state = s) => memberAfter(state, command);

  test("a new member gets a unique id, derived from its role if none is given", () => {
    const ids = [add("Writer"), add("Writer", { agent_id: "eve" }), add("ann"), add("★")].map(
      (command) => after(command)?.agent.agent_id,
    );
    expect(ids).toEqual(["writer", "eve", "ann_2", "member"]);
  });

  test("a member edit applies its fields, keeps the others and clears those set to null", () => {
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
    const then = fold(...running, ...memberChanged(s, set, { by: "ann" }));
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

  test("a member change is recorded with everything that the run needs", () => {
    const model_windows = { "p/m": 9000 };
    const command = { ...add("Judge", { tools: ["read"] }), role: judge, context_windows: model_windows };
    expect(memberChanged(s, command, { by: "ann" })).toEqual([
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
    expect(memberChanged(idle, { ...remove("bob"), role: writer }, { by: "eve" })).toEqual([
      { type: "member_changed", node_id: "crew", payload: { agent_id: "bob", action: "removed", by: "eve" } },
    ]);
    expect(memberChanged(s, change("eve", { backstory: "x" }), { by: "ann" })).toEqual([]);
    const [event] = memberChanged(s, { ...change("bob", { backstory: "x" }), role: writer }, { by: "ann" });
    expect(event?.payload).toEqual({
      agent_id: "bob",
      action: "changed",
      agent: expect.objectContaining({ agent_id: "bob", backstory: "x" }),
      by: "ann",
    });
  });
});

describe("tools granted by a program", () => {
  const narrow = (command: TeamCommand): TeamCommand => ({ ...command, only_narrows: true });
  const wider = (who: string, role_name: string, tools: string) =>
    `${who} would get tools that no ${role_name} in this crew can use now: ${tools}`;
  const less = changed("ann", "Writer", ["read"]);

  test.each<[string, TeamCommand, NewEvent[], string | null]>([
    ["another member of an existing role", add("Writer"), [], null],
    [
      "a member of a new role",
      { ...add("Judge"), role: judge },
      [],
      wider("judge", "Judge", "read, mcp:law/*"),
    ],
    ["a member of a role without tools", { ...add("Poet"), role: role("Poet") }, [], null],
    [
      "a member of a new role with tools that others have",
      { ...add("Judge", { tools: ["read"] }), role: judge },
      [],
      wider("judge", "Judge", "read"),
    ],
    ["removing a member", remove("ann"), [], null],
    ["changing a missing member", change("eve", { backstory: "x" }), [], null],
    ["fewer tools", change("ann", { tools: ["read"] }), [], null],
    [
      "restoring tools that were removed",
      change("ann", { tools: null }),
      [less],
      wider("ann", "Writer", "read, write"),
    ],
    ["keeping a reduced set of tools", change("ann", { backstory: "x" }), [less], null],
    ["the role of another member", change("ann", { role_name: "Reader" }), [], null],
    ["the role of another member that has more tools", change("bob", { role_name: "Writer" }), [], null],
    [
      "the role of another member whose tools were reduced",
      change("bob", { role_name: "Writer" }),
      [less],
      wider("bob", "Writer", "read, write"),
    ],
    [
      "another member of a role whose tools were reduced",
      add("Writer"),
      [less],
      wider("writer", "Writer", "read, write"),
    ],
    ["another member with the reduced set of tools", add("Writer", { tools: ["read"] }), [less], null],
  ])("a program's team edit is checked for wider tool access: %s", (_what, command, events, reason) => {
    const state = fold(...begin, ...events);
    expect(widening(state, command)).toBe(reason);
    const known = commandError(a, state, narrow(command));
    if (reason !== null) expect(known).toBe(`Only a signed-in person can do this: ${reason}.`);
    else expect(known?.startsWith("Only a person") ?? false).toBe(false);
  });

  test("a program may grant a single tool of a server if the role has the whole server", () => {
    const law = crewRun({ members: { ann: "Judge", bob: "Reader" }, roles: [judge, reader] });
    const state = fold(...law.begin);
    expect(widening(state, add("Judge", { tools: ["mcp:law/find"] }))).toBeNull();
    expect(widening(state, add("Judge", { tools: ["mcp:mail/find"] }))).toBe(
      wider("judge", "Judge", "mcp:mail/find"),
    );
  });
});
