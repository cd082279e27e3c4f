import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { inputFields } from "@/server/domain/graph/run-input";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { newDemoModels } from "@/server/llm/demo-models";
import { newScratchTools } from "@/server/scratch-tools";
import { templates } from "@/server/templates";
import { newStage } from "../testing";
import type { TestParts } from "./answering";
import { testOfRun } from "./keep-run";
import { runTest } from "./run-test";

const nothing = () => Promise.reject(new Error("A test asks nobody."));

describe("a run of a template, kept as a test, passes at once, without a call, and the same each time", () => {
  for (const { key, graph } of templates)
    test(key, async () => {
      const scratch = newScratchTools(() => 0);
      const stage = newStage({ models: newDemoModels() });
      const input = Object.fromEntries(
        inputFields(graph).map((field) => [field.key, "Please approve my vacation for next week."]),
      );
      const { id } = await stage.run(graph, { input, roles: builtinRoles, agrees: true });
      const kept = { id: "kept", ...testOfRun(id, stage.store.journal(id), key) };
      // It goes through a file.
      const read = ScenarioTest.parse(JSON.parse(JSON.stringify(kept)));
      const models = newDemoModels();
      const parts: TestParts = {
        models: { ...models, complete: nothing },
        demoModels: () => ({ ...models, complete: nothing }),
        tools: scratch.host,
        scratchTools: newScratchTools,
      };
      const tested = { name: key, graph, roles: builtinRoles };
      const report = await runTest(tested, read, parts);
      expect([report.problems, report.sentence]).toEqual([[], expect.stringMatching(/hold/)]);
      expect(report).toMatchObject({ status: "passed", outcome: { unused_answers: 0 } });
      expect(report.outcome?.path.length).toBeGreaterThan(2);
      expect(await runTest(tested, read, parts)).toEqual(report);
    });
});
