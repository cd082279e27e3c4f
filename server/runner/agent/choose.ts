import { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import type { JsonSchema } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import type { ChooseRequest } from "@/server/domain/nodes/define";
import { asTemplate } from "@/server/domain/text/template/template";
import type { AgentRuntime } from "../node/ports";
import { runAgent } from "./loop";

const ROUTER: RoleDefinition = {
  name: "Router",
  description: "Chooses the route that a workflow takes.",
  goals: ["Choose exactly one of the labels"],
  responsibilities: [],
  tools: [],
  guardrails: [],
  version: 1,
};

const Choice = z.object({ label: z.string(), reason: z.string(), confidence: z.number() });

/** Asks a model for exactly one of the labels, with its reason. */
export function* chooseLabel(
  run: AgentRuntime,
  request: ChooseRequest,
): Flow<{ label: string; reason: string; confidence: number | null }> {
  if (request.labels.length === 0)
    throw new NodeFailure("ROUTER_FAILED", "The router has no labeled routes to choose from.");
  const schema: JsonSchema = {
    type: "object",
    properties: {
      label: { type: "string", enum: request.labels.map(({ label }) => label) },
      reason: { type: "string" },
      confidence: { type: "number", minimum: 0, maximum: 1 },
    },
    required: ["label", "reason", "confidence"],
    additionalProperties: false,
  };
  const labels = request.labels.map(({ label, description }) => `- ${label}: ${description}`).join("\n");
  const choose = `Choose the one label that fits.\nLabels:\n${labels}\nInstruction: `;
  const instruction = request.instruction.trim() || "Choose the label that fits best.";
  const { output } = yield* runAgent(run, {
    agent_id: "router",
    required_role: ROUTER.name,
    role: ROUTER,
    purpose: "route",
    task: choose + run.render(instruction),
    template: asTemplate(choose) + instruction,
    output_keys: [],
    answer_schema: schema,
    inputs: Object.keys(run.input).length > 0 ? { ...run.input } : { ...run.state },
    llm_config: { temperature: 0, ...request.llm_config },
  });
  return Choice.parse(output);
}
