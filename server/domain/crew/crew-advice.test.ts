import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { CrewConfig } from "./crew";
import { crewAdvice, type RoleFacts } from "./crew-advice";
import { ExecutionPlan } from "./plan";
import { agreement } from "./samples";

const plain: RoleFacts = { effects: [], isGuarded: false };
const members = (...roles: string[]) =>
  roles.map((role_name, at) => ({ agent_id: `${role_name.toLowerCase()}_${at + 1}`, role_name }));
function codesOf(
  crew: z.input<typeof CrewConfig>,
  plan?: z.input<typeof ExecutionPlan>,
  factsOf: (role: string) => RoleFacts = () => plain,
) {
  const read = plan && ExecutionPlan.parse(plan);
  return crewAdvice(CrewConfig.parse(crew), read, factsOf).map(({ code }) => code);
}
const task = (task_id: string, assigned_agent: string, ...dependencies: string[]) => ({
  task_id,
  assigned_agent,
  dependencies,
  description: `Do ${task_id}.`,
});
const three = members("Scout", "Analyst", "Writer");
const checked = { success_criteria: ["It is good."] };

describe("crew advice", () => {
  test("advice flags tasks that form a chain, by dependency or by order", () => {
    const line = [task("a", "scout_1"), task("b", "analyst_2", "a"), task("c", "writer_3", "a", "b")];
    expect(codesOf({ agents: three }, { ...checked, tasks: line })).toEqual(["W_CREW_LINE"]);
    const loose = line.map((one) => ({ ...one, dependencies: [] }));
    expect(codesOf({ agents: three }, { ...checked, tasks: loose })).toEqual(["W_CREW_LINE"]);
    expect(codesOf({ agents: three, process: "parallel" }, { ...checked, tasks: loose })).toEqual([]);
    const fork = [task("a", "scout_1"), task("b", "analyst_2"), task("c", "writer_3", "a", "b")];
    expect(codesOf({ agents: three }, { ...checked, tasks: fork })).toEqual([]);
  });

  test("advice flags identical voters, but not voters with another backstory or model", () => {
    const copies = members("Judge", "Judge", "Judge");
    expect(codesOf({ agents: copies, process: "consensus" })).toEqual(["W_CREW_SAME_VOTERS"]);
    const [first, ...rest] = copies;
    expect(
      codesOf({ agents: [{ ...first!, backstory: "You doubt." }, ...rest], process: "consensus" }),
    ).toEqual([]);
    expect(
      codesOf({ agents: [{ ...first!, llm_config: { model: "other" } }, ...rest], process: "consensus" }),
    ).toEqual([]);
    expect(codesOf({ agents: copies, process: "sample" })).toEqual(["W_CREW_IDLE"]);
  });

  test("advice flags more than four members without a lead", () => {
    const five = members("A", "B", "C", "D", "E");
    expect(codesOf({ agents: five, process: "swarm" })).toEqual(["W_CREW_UNLED"]);
    expect(codesOf({ agents: five, process: "hierarchical" })).toEqual([]);
    expect(codesOf({ agents: five.slice(1), process: "swarm" })).toEqual([]);
    const joined = [
      ...["a", "b"].map((id) => task(id, "a_1")),
      { ...task("all", "b_2", "a", "b"), description: "Review both and join them." },
    ];
    expect(codesOf({ agents: five, process: "parallel" }, { tasks: joined })).toEqual([]);
  });

  test("advice flags unchecked work and work that its author reviews", () => {
    const tasks = [task("a", "scout_1"), task("b", "analyst_2"), task("c", "writer_3", "a", "b")];
    expect(codesOf({ agents: three }, { tasks })).toEqual(["W_CREW_UNCHECKED"]);
    expect(codesOf({ agents: three }, { tasks }, () => ({ ...plain, isGuarded: true }))).toEqual([]);
    const own = [...tasks, { ...task("d", "writer_3", "c"), description: "Review the text." }];
    expect(codesOf({ agents: three }, { tasks: own })).toEqual(["W_CREW_OWN_JUDGE"]);
    const other = [...tasks, { ...task("d", "scout_1", "c"), description: "Review the text." }];
    expect(codesOf({ agents: three }, { tasks: other })).toEqual([]);
  });

  test("advice flags a pattern that never ends and a step that reviews its own work", () => {
    const steps = (...workflow: Record<string, string>[]) => ({
      agents: members("Coder", "Checker"),
      process: "custom" as const,
      collaboration_patterns: [{ name: "round", type: "custom", workflow }],
    });
    const make = { step: "make", agent: "coder_1", next_on_done: "look" };
    const checkStep = { step: "look", agent: "checker_2", description: "Check it.", next_on_bad: "make" };
    expect(codesOf(steps(make, { ...checkStep, next_on_good: "make" }))).toEqual(["W_CREW_NO_END"]);
    expect(codesOf(steps(make, { ...checkStep, next_on_good: "end" }))).toEqual([]);
    expect(codesOf(steps(make, { ...checkStep, agent: "coder_1", next_on_good: "end" }))).toEqual([
      "W_CREW_OWN_JUDGE",
    ]);
  });

  test("advice flags members with the same side effect", () => {
    const facts = (role: string) => ({ ...plain, effects: role === "Writer" ? [] : ["send_mail"] });
    expect(codesOf({ agents: three, process: "swarm" }, undefined, facts)).toEqual(["W_CREW_SAME_EFFECT"]);
    expect(codesOf({ agents: three }, undefined, facts)).toEqual([]);
  });
});

describe("agreement between answers", () => {
  test("the agreed answer is the first of the largest group", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1 }), (answers) => {
        const { at, votes } = agreement(answers, { signs: true });
        const count = (one: string) => answers.filter((other) => other === one).length;
        expect(votes).toBe(Math.max(...answers.map(count)));
        expect(answers.indexOf(answers[at]!)).toBe(at);
        expect(answers.slice(0, at).every((one) => count(one) < votes)).toBe(true);
      }),
    );
  });
});
