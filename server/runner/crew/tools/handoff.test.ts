import { describe, expect, test } from "vitest";
import { agent, as, call, calls, of, role, runCrew } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { ModelError } from "@/server/llm/model";
import { answersTo } from "./testing";

const swarm = (agents: readonly ReturnType<typeof agent>[]) => ({
  process: "swarm" as const,
  agents: [...agents],
});
const team = ["ann", "bob", "cid"].map((name) => agent(name));
const over = (destination_agent: string, more: JsonObject = {}) =>
  call("handoff", { destination_agent, reason: "yours", ...more });
const done = (who: string) => as(who, { text: `${who} did it` });

describe("handoffs", () => {
  test("an agent can hand off only to allowed agents, by ID or role", async () => {
    const { state, models } = await runCrew(
      [
        as("ann", calls(over("cid"))),
        as("ann", calls(over("nobody"))),
        as("ann", calls(over("BOB"))),
        done("bob"),
      ],
      swarm([agent("ann", { handoffs: ["bob"] }), ...team.slice(1)]),
    );
    expect(answersTo(state, "ann")).toEqual([
      [403, 'You cannot hand off to "cid". You can hand off to: bob.'],
      [404, 'You cannot hand off to "nobody". You can hand off to: bob.'],
      [200, "bob takes over."],
    ]);
    const tool = models.calls[0]!.tools!.find(({ name }) => name === "handoff")!;
    expect(tool.description).toBe(
      "Transfer control to another agent, who continues this conversation. Agents: bob.",
    );
    const byRole = await runCrew(
      [as("Boss", calls(over("cid"))), done("Maker")],
      swarm([
        { ...agent("ann", { handoffs: ["Maker"] }), role_name: "Boss" },
        { ...agent("cid"), role_name: "Maker" },
      ]),
    );
    expect(byRole.state.state.result).toBe("Maker did it");
  });

  test("an agent can't hand off to its manager or to itself", async () => {
    const decision = (send_to: string, stop: string | null) =>
      as("ann", {
        json: {
          plan: [],
          current_plan_step: "go",
          send_to,
          message: "do it",
          ledger: {
            is_request_satisfied: { answer: stop !== null, reason: "" },
            is_in_loop: { answer: false, reason: "" },
            is_progress_being_made: { answer: true, reason: "" },
          },
          stop,
        },
      });
    const { state } = await runCrew(
      [
        decision("bob", null),
        as("bob", calls(over("ann"), over("bob"))),
        done("bob"),
        decision("User", "Completed"),
      ],
      { process: "hierarchical", agents: team, manager: { agent_id: "ann" } },
      { roles: [role("bob", ["handoff"])] },
    );
    expect(answersTo(state, "bob")).toEqual([
      [403, 'You cannot hand off to "ann". You can hand off to: cid.'],
      [400, "You cannot hand off to yourself."],
    ]);
  });

  test("a fifth handoff back and forth without new results is refused with the reason", async () => {
    const { events, state } = await runCrew(
      [
        as("ann", calls(over("bob"))),
        as("bob", calls(over("ann"))),
        as("ann", calls(over("bob"))),
        as("bob", calls(over("ann"))),
        as("ann", calls(over("bob"))),
        done("ann"),
      ],
      swarm(team),
    );
    const message =
      "ann and bob have handed the work to each other 5 times without any new result. Do it yourself, hand it to someone else, or finish with what there is.";
    expect(of(events, "stuck_detected")).toEqual([
      { pattern: "handoff_ping_pong", message, action: "nudge" },
    ]);
    expect(of(events, "handed_off").map(({ count }) => count)).toEqual([1, 2, 3, 4]);
    expect(answersTo(state, "ann").at(-1)).toEqual([409, message]);
    expect(state.state.result).toBe("ann did it");
  });

  test("an agent must answer once the crew's handoffs are used up", async () => {
    const { state } = await runCrew(
      [
        as("ann", calls(over("bob"))),
        as("bob", calls(over("ann"))),
        as("bob", calls(over("cid"))),
        done("bob"),
      ],
      { ...swarm(team), max_handoffs: 1 },
    );
    expect(answersTo(state, "bob").slice(-2)).toEqual([
      [409, "The crew reached its limit of 1 handoffs. Answer now."],
      [409, "The crew reached its limit of 1 handoffs. Answer now."],
    ]);
  });
});

describe("parallel handoffs", () => {
  const roles = [role("ann", ["parallel_handoff", "create_team"])];
  const several = (args: JsonObject) => call("parallel_handoff", args);
  test("parallel coworkers get one task each or the same task, and all results are returned", async () => {
    const run = (tasks: string[]) =>
      runCrew(
        [
          as("ann", calls(several({ agents: ["bob", "cid"], tasks }))),
          { ...done("bob"), delayMs: 1 },
          { ...done("cid"), delayMs: 30 },
          done("ann"),
        ],
        swarm(team),
        { roles },
      );
    const each = await run(["one", "two"]);
    expect(answersTo(each.state, "ann")).toEqual([
      [200, '[{"agent":"bob","output":"bob did it"},{"agent":"cid","output":"cid did it"}]'],
    ]);
    const tasks = ({ events }: typeof each) =>
      of(events, "delegation_started").map(({ to, task, kind }) => [to, task, kind]);
    expect(tasks(each)).toEqual([
      ["bob", "one", "parallel"],
      ["cid", "two", "parallel"],
    ]);
    expect(tasks(await run(["same"]))).toEqual([
      ["bob", "same", "parallel"],
      ["cid", "same", "parallel"],
    ]);
  });

  test("a parallel handoff takes one task per agent or one for all, for at most eight", async () => {
    const many = Array.from({ length: 6 }, (_, at) => `m${at}`);
    const { state, events } = await runCrew(
      [
        as("ann", calls(call("create_team", { team_name: "red", agents: many, purpose: "x" }))),
        as(
          "ann",
          calls(
            several({ agents: ["bob", "cid"], tasks: ["1", "2", "3"] }),
            several({ agents: ["red", "bob", "cid", "dan"], tasks: ["1"] }),
            several({ agents: ["ghost"], tasks: ["1"] }),
          ),
        ),
        done("ann"),
      ],
      swarm([...team, ...many.map((name) => agent(name))]),
      { roles },
    );
    expect(answersTo(state, "ann").slice(1)).toEqual([
      [400, "Give one task for each agent, or one for all of them."],
      [400, "At most 8 coworkers work at the same time."],
      [
        200,
        '[{"agent":"ghost","error":"There is no coworker \\"ghost\\". You can ask: bob, cid, m0, m1, m2, m3, m4, m5."}]',
      ],
    ]);
    expect(of(events, "delegation_started")).toEqual([]);
  });

  test("a parallel handoff ends the crew if a coworker's model can't be called", async () => {
    const error = new ModelError({ code: "AUTH", message: "No.", retryable: false, user_action: "settings" });
    const { state } = await runCrew(
      [
        as("ann", calls(several({ agents: ["bob", "cid"], tasks: ["x"] }))),
        as("bob", { error }),
        as("cid", { hang: true }),
      ],
      swarm(team),
      { roles },
    );
    expect(state.run.error?.code).toBe("AUTH");
  });
});
