import { expect, test } from "vitest";
import { openDb } from "@/db/open";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { newServices } from "@/server/services";
import { findTemplate } from "@/server/templates";
import { estimateWorkflow } from "./workflow-estimate";

const nobody = { principal: { kind: "session", id: "ses_1" } as const, by: "user", note: () => {} };

test("the last run is the estimate until the workflow changes", async () => {
  const services = newServices(openDb(":memory:"), { dataDir: null, env: process.env });
  services.roles.seed(builtinRoles);
  const { graph } = findTemplate("approval")!;
  const id = services.workflows.create({ name: "Approval", graph });
  const estimate = () => estimateWorkflow.run(services, { id }, nobody);
  const guessed = estimate();
  expect(guessed.calls).toEqual([1, 6]);

  const { run_id } = services.startRun({
    workflow_id: id,
    input: { user_request: "Please approve my vacation for next week." },
    trigger: "editor",
  })!;
  await expect.poll(() => services.runs.find(run_id)?.status).toBe("finished");
  const { input_tokens, output_tokens } = services.runs.find(run_id)!;
  expect(estimate()).toEqual({
    calls: [2, 2],
    input_tokens: [input_tokens, input_tokens],
    output_tokens: [output_tokens, output_tokens],
    cost_usd: [0, 0],
    basis: ["Based on the last run"],
    assumptions: "Other inputs may cost more or less.",
  });

  const { revision } = services.workflows.find(id)!;
  services.workflows.save({ id, revision, graph: { ...graph, description: "Changed" } });
  expect(estimate()).toEqual(guessed);
});
