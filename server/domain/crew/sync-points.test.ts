import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CrewConfig } from "./crew";
import { planErrors, Task } from "./plan";
import { withSyncPoints } from "./sync-points";

const MEMBERS = ["frontend_dev", "backend_dev", "database_dev"];
const crewWith = (sync_points: string[], coordination_agent: string | undefined = "tech_lead") =>
  CrewConfig.parse({
    process: "parallel",
    agents: [...MEMBERS, "tech_lead"].map((name) => ({ agent_id: name, role_name: name })),
    collaboration_patterns: [
      {
        parallel_groups: [
          {
            name: "development_team",
            agents: MEMBERS,
            sync_points,
            ...(coordination_agent ? { coordination_agent } : {}),
          },
        ],
      },
    ],
  });
const task = (task_id: string, who: string, dependencies: string[] = [], tags: string[] = []) =>
  Task.parse({ task_id, description: task_id, assigned_agent: who, dependencies, metadata: { tags } });
const waits = (tasks: readonly Task[]) =>
  Object.fromEntries(tasks.map(({ task_id, dependencies }) => [task_id, dependencies]));

describe("sync points", () => {
  const design = [
    task("df", "frontend_dev", [], ["design_review"]),
    task("db", "database_dev", [], ["design_review"]),
  ];

  test("in the reference team, untagged tasks follow the design review", () => {
    const { tasks, diagnostics } = withSyncPoints(
      [...design, task("cf", "frontend_dev", ["df"]), task("cb", "backend_dev", ["db"])],
      crewWith(["design_review", "integration_testing"]),
    );
    expect(diagnostics).toEqual([]);
    expect(waits(tasks)).toEqual({
      df: [],
      db: [],
      cf: ["df", "sync_design_review"],
      cb: ["db", "sync_design_review"],
      sync_design_review: ["df", "db"],
      sync_integration_testing: ["cf", "cb", "sync_design_review"],
    });
  });

  test("the listed order of sync points doesn't reverse the tasks", () => {
    const { tasks, diagnostics } = withSyncPoints(
      [...design, task("cf", "frontend_dev", ["df"], ["integration_testing"])],
      crewWith(["integration_testing", "design_review"]),
    );
    expect(diagnostics).toEqual([]);
    expect(waits(tasks)).toMatchObject({
      cf: ["df", "sync_design_review"],
      sync_design_review: ["df", "db"],
      sync_integration_testing: ["cf"],
    });
  });

  test("a sync point without tagged tasks is reported and adds no task", () => {
    const { tasks, diagnostics } = withSyncPoints(design, crewWith(["design_review", "integration_testing"]));
    expect(diagnostics).toEqual([
      { kind: "nobody_meets", group: "development_team", point: "integration_testing" },
    ]);
    expect(tasks.map(({ task_id }) => task_id)).toEqual(["df", "db", "sync_design_review"]);
  });

  test("tags match a sync point regardless of case and separators", () => {
    const { diagnostics, tasks } = withSyncPoints(
      [task("a", "frontend_dev", [], ["Design review"])],
      crewWith(["design_review"]),
    );
    expect(diagnostics).toEqual([]);
    expect(waits(tasks).sync_design_review).toEqual(["a"]);
  });

  test("a task between two synchronized tasks doesn't wait for the sync point", () => {
    const { tasks, diagnostics } = withSyncPoints(
      [
        task("a", "frontend_dev", [], ["p"]),
        task("between", "tech_lead", ["a"]),
        task("c", "backend_dev", ["between"], ["p"]),
      ],
      crewWith(["p"]),
    );
    expect(diagnostics).toEqual([]);
    expect(waits(tasks)).toMatchObject({ between: ["a"], sync_p: ["a", "c"] });
  });

  test("sync points that wait for each other are reported as a cycle and change no tasks", () => {
    const plan = [
      task("a", "frontend_dev", [], ["p"]),
      task("b", "backend_dev", ["a"], ["q"]),
      task("c", "database_dev", [], ["q"]),
      task("d", "frontend_dev", ["c"], ["p"]),
    ];
    const { tasks, diagnostics } = withSyncPoints(plan, crewWith(["p", "q"]));
    expect(tasks).toEqual(plan);
    expect(diagnostics).toEqual([
      { kind: "circle", group: "development_team", circle: ["b", "sync_p", "d", "sync_q"] },
    ]);
  });

  test("without a coordinator, later tasks wait for all synchronized tasks", () => {
    const { tasks } = withSyncPoints(
      [...design, task("cf", "frontend_dev", ["df"])],
      crewWith(["design_review"], ""),
    );
    expect(waits(tasks)).toMatchObject({ cf: ["df", "db"] });
  });

  test("adding sync points twice has no further effect", () => {
    const crew = crewWith(["design_review", "integration_testing"]);
    const once = withSyncPoints([...design, task("cf", "frontend_dev", ["df"])], crew);
    expect(withSyncPoints(once.tasks, crew)).toEqual(once);
  });

  test("sync points keep any plan executable and remove no dependency", () => {
    const point = fc.constantFrom("p", "q", "r");
    const shape = fc.array(
      fc.record({
        who: fc.constantFrom(...MEMBERS, "tech_lead"),
        after: fc.array(fc.nat(5), { maxLength: 3 }),
        tags: fc.array(point, { maxLength: 2 }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(shape, fc.uniqueArray(point), fc.boolean(), (drawn, points, isLed) => {
        const plan = drawn.map(({ who, after, tags }, at) =>
          task(
            `t${at}`,
            who,
            [...new Set(after.filter((other) => other < at))].map((n) => `t${n}`),
            tags,
          ),
        );
        const { tasks, diagnostics } = withSyncPoints(plan, crewWith(points, isLed ? "tech_lead" : ""));
        expect(planErrors(tasks)).toEqual([]);
        for (const before of plan)
          expect(tasks.find(({ task_id }) => task_id === before.task_id)?.dependencies).toEqual(
            expect.arrayContaining(before.dependencies),
          );
        for (const diagnostic of diagnostics) if (diagnostic.kind === "circle") expect(tasks).toEqual(plan);
      }),
    );
  });
});
