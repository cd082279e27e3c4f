import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { inputFields } from "@/server/domain/graph/run-input";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import type { TestParts } from "@/server/runner/scenario/answering";
import { testOfRun } from "@/server/runner/scenario/keep-run";
import type { Tested } from "@/server/runner/scenario/run-scenario";
import { runSuite } from "@/server/runner/scenario/run-suite";
import { newStage } from "@/server/runner/testing";
import { newScratchTools } from "@/server/scratch-tools";
import { templates } from "@/server/templates";
import type { Figure } from "./table";

const TESTS = 100;

/** How long a hundred tests take that ask no model: of a small drawing with a loop, and kept from runs of the templates. */
export async function measureScenarios(): Promise<Figure[]> {
  const models = newDemoModels();
  const parts: TestParts = {
    models,
    demoModels: newDemoModels,
    tools: newScratchTools(() => 0).host,
    scratchTools: newScratchTools,
  };
  const small = await measure(loopOf(), parts, [
    ScenarioTest.parse({ id: "loop", name: "Loop", expect: [{ kind: "visits", node: "a", times: 5 }] }),
  ]);
  let kept = 0;
  const share = Math.ceil(TESTS / templates.length);
  for (const { key, graph } of templates) {
    const stage = newStage({ models: newDemoModels() });
    const input = Object.fromEntries(
      inputFields(graph).map((field) => [field.key, "Please approve my vacation for next week."]),
    );
    const { id } = await stage.run(graph, { input, roles: builtinRoles, agrees: true });
    const test = { id: "kept", ...testOfRun(id, stage.store.journal(id), key) };
    kept += await measure({ name: key, graph, roles: builtinRoles }, parts, [test], share);
  }
  return [
    {
      name: "100 tests of a loop, without a model",
      measured: small / 1000,
      unit: "s",
      target: { atMost: 5 },
    },
    {
      name: `${share * templates.length} tests kept from runs of the templates`,
      measured: kept / 1000,
      unit: "s",
      target: { atMost: 5 },
    },
  ];
}

const loopOf = (): Tested => ({
  name: "Loop",
  graph: draw("start > a > r; r again> a; r done> w > end", {
    a: {
      config: {
        set: {
          n: "('n' in state ? state.n : 0) + 1",
          r: "('n' in state ? state.n : 0) < 4 ? 'again' : 'done'",
        },
      },
      output_keys: ["n", "r"],
    },
    w: { config: { ms: 86_400_000 } },
  }),
  roles: [],
});

/** Milliseconds. Throws where a test does not pass: it would measure nothing. */
async function measure(
  tested: Tested,
  parts: TestParts,
  [test]: readonly [ScenarioTest],
  count = TESTS,
): Promise<number> {
  const tests = Array.from({ length: count }, (_, k) => ({ ...test, id: `t${k}` }));
  const began = performance.now();
  const { passed, tests: reports } = await runSuite({ tested, tests, parts });
  const took = performance.now() - began;
  if (passed !== count)
    throw new Error(`${tested.name}: ${reports.find(({ status }) => status !== "passed")?.sentence}`);
  return took;
}
