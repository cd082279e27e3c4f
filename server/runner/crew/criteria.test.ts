import { describe, expect, test } from "vitest";
import { agent, as, of } from "@/server/conformance/stage";
import { runAsked } from "./testing";

const agents = ["boss", "ann"].map((name) => agent(name));
const reply = (text: string) => as("ann", { text });
const verdicts = (...given: [criterion: string, met: boolean, evidence: string][]) => ({
  json: { verdicts: given.map(([criterion, met, evidence]) => ({ criterion, met, evidence })) },
});
const run = (steps: Parameters<typeof runAsked>[0], success_criteria: string[]) =>
  runAsked(steps, { agents, manager: { agent_id: "boss" } }, [], {
    plan: { success_criteria, tasks: [{ task_id: "t", description: "do it", assigned_agent: "ann" }] },
  });
const checked = ({ events }: Awaited<ReturnType<typeof run>>) =>
  of(events, "criterion_checked").map(({ criterion, met, evidence }) => [criterion, met, evidence]);

describe("success criteria", () => {
  test("a result that meets all criteria is accepted, and only criteria in prose need a judge", async () => {
    const exact = "cel: output.result.size() > 2";
    const done = await run(
      [reply("long"), verdicts(["it shines", true, "it does"])],
      [exact, "it shines", " "],
    );
    expect(checked(done)).toEqual([
      [exact, true, "It is true."],
      ["it shines", true, "it does"],
    ]);
    expect([done.state.state.result, done.state.run.warnings]).toEqual(["long", []]);
    const judge = done.models.calls.at(-1)!.messages.map(({ content }) => content);
    expect(judge[0]).toMatch(/^You are a judge\./);
    expect(judge[1]).toContain("<criteria>- it shines</criteria>");
    expect(judge[1]).toContain("long");
    const none = await run([reply("long")], [" "]);
    expect([checked(none), none.models.calls.length]).toEqual([[], 1]);
  });

  test("the last agent improves a result once, and criteria still unmet become warnings", async () => {
    const exact = "cel: output.result == 'very long'";
    const done = await run(
      [
        reply("long"),
        verdicts(["it shines", false, "it is dull"]),
        reply("longer"),
        verdicts(["it shines", true, "it does"]),
      ],
      [exact, "it shines"],
    );
    expect(done.models.calls[2]!.messages.at(-1)!.content).toContain(
      `Improve the result so that it meets these criteria, which it does not meet yet:\n<criteria>\n- ${exact}: It is not true.\n- it shines: it is dull\n</criteria>\nReturn the complete improved result.`,
    );
    expect(checked(done)).toEqual([
      [exact, false, "It is not true."],
      ["it shines", false, "it is dull"],
      [exact, false, "It is not true."],
      ["it shines", true, "it does"],
    ]);
    expect(done.state.state.result).toBe("longer");
    expect(done.state.run.warnings).toEqual([`crew doesn't meet "${exact}": It is not true.`]);
  });

  test("the judge, which is not a member, and the improving agent see the task results", async () => {
    const done = await runAsked(
      [
        as("boss", { text: "fact: owls see well" }),
        reply("Owls see well."),
        verdicts(["every claim stands in the facts", false, "one does not"]),
        reply("Owls see."),
        verdicts(["every claim stands in the facts", true, "it does"]),
      ],
      { agents, manager: { agent_id: "boss" } },
      [],
      {
        plan: {
          success_criteria: ["every claim stands in the facts"],
          tasks: [
            { task_id: "facts", description: "find facts", assigned_agent: "boss" },
            { task_id: "text", description: "write", assigned_agent: "ann", dependencies: ["facts"] },
          ],
        },
      },
    );
    const asked = done.models.calls.slice(2).map(({ messages }) => messages.map(({ content }) => content));
    for (const [, user] of asked)
      expect(user).toContain('<results>\n<result task="facts">fact: owls see well</result>');
    // What is judged is told once.
    expect(asked[0]![1]!.split("Owls see well.")).toHaveLength(2);
    expect([asked[0]![0], asked[2]![0]].filter((system) => system!.includes("boss"))).toEqual([]);
  });

  test("verdicts are matched by criterion, then by position, and missing ones count as unmet", async () => {
    const done = await run(
      [
        reply("long"),
        verdicts(["second", true, "yes"], ["first", true, "of course"]),
        reply("longer"),
        verdicts(["1. first", true, "so"], ["2. second", false, "not so"]),
      ],
      ["first", "second", "third"],
    );
    expect(checked(done)).toEqual([
      ["first", true, "of course"],
      ["second", true, "yes"],
      ["third", false, "The judge did not say."],
      ["first", true, "so"],
      ["second", false, "not so"],
      ["third", false, "The judge did not say."],
    ]);
  });
});

test("exact criteria are recorded whenever they become met or unmet", async () => {
  const exact = ["cel: has(state.a)", "cel: !has(state.b)", "cel: state.nothing"];
  const tasks = ["a", "b", "c"].map((task_id) => ({ task_id, description: task_id, assigned_agent: "ann" }));
  const { events } = await runAsked(
    [reply("A"), reply("B"), reply("C"), reply("D")],
    { agents: [agent("ann")] },
    [],
    { plan: { success_criteria: exact.slice(0, 2), tasks } },
  );
  const seen = events.flatMap((event): string[] => {
    if (event.type === "criterion_checked") return [`${event.payload.criterion} ${event.payload.met}`];
    return event.type === "task_status_changed" && event.payload.to === "completed"
      ? [`${event.task_id}`]
      : [];
  });
  expect(seen).toEqual([
    "a",
    "cel: has(state.a) true",
    "cel: !has(state.b) true",
    "b",
    "cel: !has(state.b) false",
    "c",
    "cel: has(state.a) true",
    "cel: !has(state.b) false",
    "cel: has(state.a) true",
    "cel: !has(state.b) false",
  ]);
});
