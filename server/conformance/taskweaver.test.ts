import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { newRoleFolder } from "@/server/interop/role-folder";
import { runJavascript } from "@/server/tools/sandbox/run-javascript";
import { runWithCalls } from "@/server/tools/sandbox/sandbox";
import { agent, as, call, calls, newScriptedStage, of, role, runCrew } from "./stage";

// The promises of the reference "taskweaver-roles" (README.md of this folder), in its order.

const verdict = (answer: boolean) => ({ answer, reason: "because" });
/** What the planner decides in one round. */
const decide = (send_to: string, message: string, more: JsonObject = {}) =>
  as("planner", {
    json: {
      plan: ["1. read the manual", "2. process the data"],
      current_plan_step: "a step",
      send_to,
      message,
      ledger: {
        is_request_satisfied: verdict(send_to === "User"),
        is_in_loop: verdict(false),
        is_progress_being_made: verdict(true),
      },
      stop: send_to === "User" ? "Completed" : null,
      ...more,
    },
  });
const team = {
  process: "hierarchical" as const,
  manager: { agent_id: "planner" },
  agents: [agent("planner"), agent("manual_reader"), agent("interpreter")],
};

describe("planner communication", () => {
  const steps = [
    decide("manual_reader", "Read the manual."),
    as("manual_reader", { text: "First sort, then sum." }),
    decide("interpreter", "Sort the data, then sum it."),
    as("interpreter", { text: "The sum is 42." }),
    decide("User", "The result is 42."),
  ];

  test("the planner sends one step to each role and responds after their replies", async () => {
    const { events, state } = await runCrew(steps, team);
    expect(of(events, "post_sent").map(({ from, to, message }) => `${from} > ${to}: ${message}`)).toEqual([
      "planner > manual_reader: Read the manual.",
      "manual_reader > planner: First sort, then sum.",
      "planner > interpreter: Sort the data, then sum it.",
      "interpreter > planner: The sum is 42.",
      "planner > User: The result is 42.",
    ]);
    expect(of(events, "round_started").map(({ round }) => round)).toEqual([1, 2, 3]);
    expect(state.state.result).toBe("The result is 42.");
  });

  test("roles communicate only with the planner and never see each other's replies", async () => {
    const { models, events } = await runCrew(steps, team);
    const seen = models.calls[3]!.messages.map(({ content }) => content).join("\n");
    expect(seen).toContain("You are interpreter");
    expect(seen).not.toContain("First sort, then sum.");
    for (const { from, to } of of(events, "post_sent")) expect([from, to]).toContain("planner");
    for (const { tools = [] } of of(events, "agent_started"))
      for (const name of ["handoff", "delegate_task", "ask_coworker"]) expect(tools).not.toContain(name);
  });

  test("a role remembers its conversation with the planner when it is asked again", async () => {
    const { models } = await runCrew(
      [
        decide("manual_reader", "Read the manual."),
        as("manual_reader", { text: "First sort, then sum." }),
        decide("interpreter", "Sort the data, then sum it."),
        as("interpreter", { text: "The sum is 42." }),
        decide("manual_reader", "And what if there is no data?"),
        as("manual_reader", { text: "Then it is 0." }),
        decide("User", "42, or 0."),
      ],
      team,
    );
    expect(
      models.calls[5]!.messages.slice(1).map(({ role: from, content }) => [
        from,
        /asks you:\n(.*)/.exec(content)?.[1] ?? content,
      ]),
    ).toEqual([
      ["user", "Read the manual."],
      ["assistant", "First sort, then sum."],
      ["user", "And what if there is no data?"],
    ]);
  });

  test("the planner has no tools and can send neither to itself nor to unknown agents", async () => {
    const { models, state } = await runCrew(
      [decide("planner", "I do it."), decide("stranger", "You do it."), decide("User", "Done.")],
      team,
    );
    expect(models.calls.every(({ tools }) => tools === undefined)).toBe(true);
    expect(models.calls[1]!.messages.at(-1)!.content).toMatch(/did not match: .*send_to/);
    expect(state.state.result).toBe("Done.");
  });

  test("a failed role replies with its failure, and the planner continues", async () => {
    const { events, state } = await runCrew(
      [
        decide("manual_reader", "Read."),
        as("manual_reader", { refusal: "no" }),
        decide("User", "Could not read it, here is the rest."),
      ],
      team,
    );
    expect(of(events, "post_sent")[1]!.message).toMatch(/^I could not do it: /);
    expect(state.run.final_status).toBe("COMPLETED");
  });
});

describe("the board", () => {
  test("the planner posts the request and its plan, which every role can read", async () => {
    const { models, events } = await runCrew(
      [decide("interpreter", "Go."), as("interpreter", { text: "Gone." }), decide("User", "Done.")],
      team,
    );
    expect(of(events, "board_written").map(({ alias }) => alias)).toEqual(["planner", "planner"]);
    const prompt = models.calls[1]!.messages.at(-1)!.content;
    expect(prompt).toContain(
      '<bulletin by="planner">\nRequest: the goal\nPlan:\n- 1. read the manual\n- 2. process the data\n</bulletin>',
    );
  });

  test("write_board and read_board keep the last bulletin of each alias", async () => {
    const { state } = await runCrew(
      [
        decide("manual_reader", "Read."),
        as(
          "manual_reader",
          calls(
            call("write_board", { bulletin: "draft" }),
            call("write_board", { role_alias: "manual_reader", bulletin: "Sort, then sum." }),
            call("write_board", { role_alias: "interpreter", bulletin: "in your name" }),
          ),
        ),
        as("manual_reader", { text: "It is on the board." }),
        decide("interpreter", "Follow the board."),
        as(
          "interpreter",
          calls(
            call("read_board"),
            call("read_board", { role_alias: "manual_reader" }),
            call("read_board", { role_alias: "interpreter" }),
          ),
        ),
        as("interpreter", { text: "42" }),
        decide("User", "42"),
      ],
      team,
    );
    const toolOutputs = (name: string) =>
      Object.values(state.agents)
        .find(({ agent_id }) => agent_id === name)!
        .messages.filter(({ role: from }) => from === "tool")
        .map(({ content }) => content);
    expect(toolOutputs("manual_reader").map((content) => content.slice(0, 17))).toEqual([
      "write_board (200)",
      "write_board (200)",
      "write_board (403)",
    ]);
    const [all, one, none] = toolOutputs("interpreter");
    expect(JSON.parse(all!.replace(/^read_board \(200\): /, ""))).toEqual({
      planner: "Request: the goal\nPlan:\n- 1. read the manual\n- 2. process the data",
      manual_reader: "Sort, then sum.",
    });
    expect(one).toBe("read_board (200): Sort, then sum.");
    expect(none).toBe("read_board (200): null");
    expect(Object.values(state.crews)[0]!.board.manual_reader).toBe("Sort, then sum.");
  });
});

describe("variables of the code interpreter", () => {
  const program = (code: string) => calls(call("run_javascript", { code }));
  const steps = [
    program("rows = [1, 2, 3, 50]; return rows.length"),
    program("anomalies = rows.filter((n) => n > 10); function helper() {} return anomalies"),
    program("rows = null; throw new Error('no')"),
    program("return [rows.length, anomalies]"),
    { text: "50 is an anomaly." },
  ];
  const graph = draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "CodeInterpreter", task_description_template: "find anomalies" },
    },
  });
  const interpreter = role("CodeInterpreter", ["run_javascript"]);
  const newInterpreter = () => {
    const stage = newScriptedStage(steps, [runJavascript({ isEnabled: true })]);
    stage.tools.runCode = (given, signal) => runWithCalls(given, { signal });
    return stage;
  };

  test("the code interpreter keeps its variables between programs of a task", async () => {
    const { run } = newInterpreter();
    const { events, state } = await run(graph, { roles: [interpreter] });
    expect(of(events, "tool_call_completed").map(({ status_code, output }) => [status_code, output])).toEqual(
      [
        [200, { result: 4, logs: [], variables: ["rows"] }],
        [200, { result: [50], logs: [], variables: ["rows", "anomalies"] }],
        [500, undefined],
        [200, { result: [4, [50]], logs: [], variables: ["rows", "anomalies"] }],
      ],
    );
    expect(state.state.answer).toBe("50 is an anomaly.");
  });
});

describe("extra roles", () => {
  test("extra roles are loaded from a folder automatically and work in a crew", async () => {
    const dir = mkdtempSync(path.join(tmpdir(), "roles-"));
    try {
      writeFileSync(path.join(dir, "weather.yaml"), "name: Weather\ndescription: Knows the weather.\n");
      const folder = newRoleFolder(dir);
      folder.close();
      expect(folder.findings()).toEqual([]);
      const [loaded] = folder.roles();
      const { state } = await runCrew(
        [decide("weather", "How is it?"), as("Weather", { text: "Sunny." }), decide("User", "It is sunny.")],
        { ...team, agents: [agent("planner"), { agent_id: "weather", role_name: "Weather" }] },
        { roles: [role("planner"), loaded!.role] },
      );
      expect(state.state.result).toBe("It is sunny.");
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test("the planner sends the Echo role a message, and Echo repeats it without a model", async () => {
    const { models, events, state } = await runCrew(
      [decide("echo", "Hello, is anybody there?"), decide("User", "Echo said: Hello, is anybody there?")],
      { ...team, agents: [agent("planner"), { agent_id: "echo", role_name: "Echo" }] },
      { roles: [findBuiltinRole("Echo")!, role("planner")] },
    );
    expect(of(events, "post_sent").map(({ from, to, message }) => `${from} > ${to}: ${message}`)).toEqual([
      "planner > echo: Hello, is anybody there?",
      "echo > planner: Hello, is anybody there?",
      "planner > User: Echo said: Hello, is anybody there?",
    ]);
    expect(models.calls).toHaveLength(2);
    expect(models.calls.every(({ messages }) => messages[0]!.content.startsWith("You are planner"))).toBe(
      true,
    );
    const echo = Object.values(state.agents).find(({ agent_id }) => agent_id === "echo")!;
    expect(echo).toMatchObject({ by_rule: "echo", status: "completed" });
    const finished = events.find(({ type, agent_id }) => type === "agent_finished" && agent_id === "echo");
    expect(finished?.payload).toMatchObject({ cost_usd: 0, usage: { requests: 0 } });
    expect(state.state.result).toBe("Echo said: Hello, is anybody there?");
  });

  test("the planner and the code interpreter are roles like any other", () => {
    expect(builtinRoles.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Planner", "Manager", "CodeInterpreter", "DocumentReader", "Echo"]),
    );
  });
});
