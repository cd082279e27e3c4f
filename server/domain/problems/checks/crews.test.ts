import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { isCrewNode } from "@/server/domain/nodes";
import { draw } from "@/server/domain/testing/drawing";
import { applyFix, findProblems, type ProblemContext } from "../problems";

const roles = [
  { name: "Lead", tools: ["parallel_handoff"] },
  { name: "Browser", tools: ["browse_url", "plan_read"] },
];
const agents = [
  { agent_id: "lead", role_name: "Lead" },
  { agent_id: "web", role_name: "Browser" },
];
const graphOf = (crew: JsonObject, plan?: JsonObject, node: JsonObject = {}) =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        plan_description_template: "go",
        crew: { agents, delegate_tools: "own", ...crew },
        ...(plan ? { plan } : {}),
      },
      ...node,
    },
  });
const found = (graph: ReturnType<typeof draw>, here: ProblemContext = {}) =>
  findProblems(graph, roles, undefined, here).filter(({ at }) => at.id === "crew");
const codes = (...args: Parameters<typeof graphOf>) =>
  found(graphOf(...args)).map(({ severity, code }) => `${severity} ${code}`);
const task = (task_id: string, more: JsonObject = {}) => ({
  task_id,
  description: `do ${task_id}`,
  assigned_agent: "lead",
  ...more,
});
const groups = (...names: string[]) => ({
  parallel_groups: [{ name: "g", agents: names, coordination_agent: "lead", sync_points: ["p"] }],
});
const steps = (...workflow: JsonObject[]) => ({ name: "own", type: "custom", workflow });

/** The node's crew after the first problem of that code was mended by its one click. */
function mended(graph: ReturnType<typeof draw>, code: string) {
  const problem = found(graph).find((one) => one.code === code);
  const node = applyFix(graph, problem!.fix!).nodes.crew;
  return isCrewNode(node) ? node.config : undefined;
}

describe("ignored parts of a crew", () => {
  for (const process of ["swarm", "hierarchical", "consensus"])
    test(`a plan that a ${process} crew ignores is an error with a fix`, () => {
      const graph = graphOf({ process }, { human_intervention_points: ["before_t1"], tasks: [task("t1")] });
      expect(found(graph).map(({ code }) => code)).toContain("E_PLAN_NOT_FOLLOWED");
      expect(mended(graph, "E_PLAN_NOT_FOLLOWED")?.crew?.process).toBe("sequential");
    });

  test("groups and steps of another process are an error whose fix switches the process", () => {
    const grouped = graphOf({ process: "swarm", collaboration_patterns: [groups("web")] });
    expect(mended(grouped, "E_PATTERN_NOT_FOLLOWED")?.crew?.process).toBe("parallel");
    const stepped = graphOf({
      process: "sequential",
      collaboration_patterns: [steps({ step: "s", agent: "web" })],
    });
    expect(mended(stepped, "E_PATTERN_NOT_FOLLOWED")?.crew?.process).toBe("custom");
  });

  test("a second pattern is an error whose fix removes it", () => {
    const graph = graphOf({
      process: "custom",
      collaboration_patterns: [steps({ step: "s", agent: "web" }), steps({ step: "t", agent: "web" })],
    });
    expect(mended(graph, "E_PATTERN_NOT_FOLLOWED")?.crew?.collaboration_patterns).toHaveLength(1);
  });

  test("unknown step agents and targets are errors, and targets have a fix", () => {
    const graph = graphOf({
      process: "custom",
      collaboration_patterns: [
        steps({ step: "make", agent: "ghost", next_on_failure: "error_handler", next_on_done: "deployment" }),
      ],
    });
    expect(found(graph).map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "error E_PATTERN_AGENT",
      "error E_PATTERN_TARGET",
      "error E_PATTERN_TARGET",
    ]);
    expect(mended(graph, "E_PATTERN_TARGET")?.crew?.collaboration_patterns).toMatchObject([
      { workflow: [{ next_on_failure: "fail:error_handler", next_on_done: "deployment" }] },
    ]);
  });
});

describe("plan problems", () => {
  test("a cycle of sync points is an error, and an empty sync point is a warning", () => {
    const tag = (...tags: string[]) => ({ metadata: { tags } });
    const crew = {
      process: "parallel",
      collaboration_patterns: [
        {
          parallel_groups: [
            { name: "g", agents: ["web"], coordination_agent: "lead", sync_points: ["p", "q"] },
          ],
        },
      ],
    };
    const web = (id: string, more: JsonObject) => task(id, { assigned_agent: "web", ...more });
    const circle = found(
      graphOf(crew, {
        tasks: [
          web("a", tag("p")),
          web("b", { dependencies: ["a"], ...tag("q") }),
          web("c", tag("q")),
          web("d", { dependencies: ["c"], ...tag("p") }),
        ],
      }),
    );
    expect(circle).toMatchObject([{ severity: "error", code: "E_SYNC_CIRCLE" }]);
    expect(circle[0]?.message).toContain("b waits for sync_p, sync_p for d, d for sync_q, sync_q for b");
    expect(codes(crew, { tasks: [web("a", tag("q"))] })).toEqual(["warning W_SYNC_POINT_EMPTY"]);
  });

  test("tasks named like an output or input of their node get a warning", () => {
    expect(
      codes(
        {},
        { tasks: [task("result"), task("topic", { dependencies: ["result"] })] },
        { input_keys: ["topic"] },
      ),
    ).toEqual([
      "warning W_TASK_NAMED_AS_OUTPUT",
      "warning W_TASK_NAMED_AS_INPUT",
      "warning W_INPUT_KEY_NOT_PRODUCED",
    ]);
  });

  test("a partly done plan gets a warning whose fix resets it", () => {
    const graph = graphOf(
      {},
      {
        tasks: [
          task("a", { status: "completed", output: "A" }),
          task("b", { status: "in_progress" }),
          task("c", { status: "failed" }),
        ],
      },
    );
    expect(mended(graph, "W_PLAN_BEGUN")?.plan?.tasks.map(({ status }) => status)).toEqual([
      "pending",
      "pending",
      "pending",
    ]);
  });
});

describe("tools that delegates would lose", () => {
  const shared = { delegate_tools: "shared" };

  test("tools that delegates would lose get a warning whose fix keeps them", () => {
    const graph = graphOf(shared);
    expect(found(graph)).toMatchObject([
      { severity: "warning", code: "W_DELEGATE_TOOLS", fix: { label: "Let delegates keep tools" } },
    ]);
    expect(found(graph)[0]?.message).toContain("web loses browse_url when working for lead");
    expect(mended(graph, "W_DELEGATE_TOOLS")?.crew?.delegate_tools).toBe("own");
    expect(found(applyFix(graph, found(graph)[0]!.fix!))).toEqual([]);
  });

  test("delegates keep their tools unless the crew says otherwise", () => {
    const graph = draw("start > crew > end", {
      crew: {
        node_type: "crew_task",
        output_keys: ["result"],
        config: { plan_description_template: "go", crew: { agents } },
      },
    });
    expect(found(graph)).toEqual([]);
  });

  test("lost delegate tools have no fix if the installation forbids keeping them", () => {
    const [problem] = found(graphOf({}), { delegatesMayKeepTools: false });
    expect(problem).toMatchObject({ code: "W_DELEGATE_TOOLS" });
    expect(problem?.fix).toBeUndefined();
  });

  test("lost delegate tools of a library crew have no fix in the workflow", () => {
    const graph = graphOf({});
    const crew = CrewConfig.parse({ agents, ...shared });
    const node = {
      ...graph.nodes.crew!,
      config: { crew_id_or_config_ref: "c1", plan_description_template: "" },
    };
    const problems = findProblems(
      { ...graph, nodes: { ...graph.nodes, crew: node as never } },
      roles,
      undefined,
      { library: { crew: () => crew, agent: () => undefined } },
    );
    expect(problems).toMatchObject([{ code: "W_DELEGATE_TOOLS" }]);
    expect(problems[0]?.fix).toBeUndefined();
  });
});

test("a handoff tool in a consensus crew or of an agent without a crew gets a warning", () => {
  expect(codes({ process: "consensus" })).toEqual(["warning W_HANDOFF_IDLE"]);
  const alone = (required_role: string) =>
    draw("start > crew > end", {
      crew: {
        node_type: "agent_task",
        output_keys: ["result"],
        config: { required_role, task_description_template: "go" },
      },
    });
  expect(found(alone("Lead"))).toMatchObject([
    { severity: "warning", code: "W_HANDOFF_IDLE", at: { field: "required_role" } },
  ]);
  expect(found(alone("Browser"))).toEqual([]);
});

describe("advice", () => {
  const line = { tasks: ["a", "b", "c"].map((id) => task(id)) };
  const adviceOn = (graph: ReturnType<typeof draw>) =>
    found(graph).filter(({ dismiss }) => dismiss !== undefined);

  test("advice is a warning that can be fixed or dismissed for the workflow", () => {
    const graph = graphOf({}, line);
    const given = adviceOn(graph);
    expect(given.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "warning W_CREW_LINE",
      "warning W_CREW_UNCHECKED",
    ]);
    const mendedGraph = given.reduce((one, { fix }) => applyFix(one, fix!), graph);
    expect(adviceOn(mendedGraph)).toEqual([]);
    const dismissed = applyFix(graph, given[0]!.dismiss!);
    expect(adviceOn(dismissed).map(({ code }) => code)).toEqual(["W_CREW_UNCHECKED"]);
    expect(applyFix(dismissed, given[0]!.dismiss!)).toEqual(dismissed);
  });

  test("a node that calls an unavailable tool gets a warning with the reason", () => {
    const whyUnavailable = (name: string) =>
      name === "render" ? 'It runs at a worker with the label "gpu", and none is there.' : null;
    const graph = draw("start > a > b > end", {
      a: { node_type: "tool_call", config: { tool_name: "render", args: {} } },
      b: { node_type: "tool_call", config: { tool_name: "calculator", args: { expression: "1" } } },
    });
    const off = findProblems(graph, roles, undefined, { whyUnavailable }).filter(
      ({ code }) => code === "W_TOOL_OFF",
    );
    expect(off).toEqual([
      {
        severity: "warning",
        code: "W_TOOL_OFF",
        at: { kind: "node", id: "a", field: "tool_name" },
        message:
          '"a" calls "render", which isn\'t available, so the node would fail: It runs at a worker with the label "gpu", and none is there.',
      },
    ]);
  });

  test("a role with an unavailable tool gets a warning with the reason", () => {
    const whyUnavailable = (name: string) => (name === "browse_url" ? "Allow it in the settings." : null);
    expect(found(graphOf({}), { whyUnavailable }).map(({ code, message }) => [code, message])).toEqual([
      ["W_TOOL_OFF", 'The role Browser lists an unavailable tool: "browse_url". Allow it in the settings.'],
    ]);
  });
});
