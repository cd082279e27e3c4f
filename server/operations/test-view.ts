import { z } from "zod";
import { toId } from "@/server/domain/base/ids";
import { withLibrary } from "@/server/domain/library/library";
import { type ScenarioFields, ScenarioTest, TestId } from "@/server/domain/scenario/scenario-test";
import { testFaults } from "@/server/domain/scenario/test-faults";
import type { StoredTest } from "@/server/store/library/scenario-tests";
import type { StoredWorkflow } from "@/server/store/workflows";
import type { Services } from "./services";
import { scenarioOf } from "./test-files";

/** A test as it is told, with why it cannot be run beside the drawing as it is now. */
export const TestView = ScenarioTest.extend({
  revision: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  problems: z.array(z.string()),
});

export const viewOf = (
  services: Services,
  workflow: StoredWorkflow,
  test: StoredTest,
): z.input<typeof TestView> => ({
  ...test,
  problems: testFaults(withLibrary(workflow.graph, services.library), fieldsOf(test)),
});

export const fieldsOf = (test: StoredTest): ScenarioFields => {
  const { id: _, ...fields } = scenarioOf(test);
  return fields;
};

/** An id for a test of that name that the workflow does not have yet. */
export function freshTestId(services: Services, workflowId: string, name: string): string {
  const base = toId(name).toLowerCase().slice(0, 50) || "test";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}_${n}`;
    if (TestId.safeParse(id).success && !services.scenarios.find(workflowId, id)) return id;
  }
}
