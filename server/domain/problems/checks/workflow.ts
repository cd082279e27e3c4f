import { describeUnchecked, uncheckedOfState } from "@/server/domain/agent/unchecked";
import { parallelWrites } from "@/server/domain/graph/keys/data-flow";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { keySchema } from "@/server/domain/graph/state-check";
import { isStandard, modelUses } from "@/server/domain/library/model-uses";
import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import type { Check } from "../check";
import { named, nameOf, quoted } from "../names";

/** What the schema of the state asks for and nobody checks. */
export function checkStateSchema({ graph, report }: Check): void {
  const schema = graph.global_state_schema;
  if (!schema) return;
  const warn = (field: string, message: string) =>
    report.warning("W_NOT_CHECKED", { kind: "workflow", field }, message);
  for (const [key, own] of Object.entries(stateProperties(graph))) {
    const notes = describeUnchecked(keySchema(own, schema));
    if (notes.length > 0)
      warn(
        `global_state_schema.properties.${key}`,
        `The schema of "${key}" in the state isn't fully checked. ${notes.join(" ")}`,
      );
  }
  const whole = uncheckedOfState(schema);
  if (whole.length > 0)
    warn(
      "global_state_schema",
      `The state is written key by key, so only the schemas of its keys are checked, not ${quoted(whole)}. Set it for a key, or check it with an expression.`,
    );
}

/** A budget in dollars cannot be kept where nobody knows what a model costs. */
export function checkPrices({ graph, report, here: { isPriceKnown } }: Check): void {
  if (!isPriceKnown) return;
  if (graph.config?.budget?.max_cost_usd == null) return;
  const unknown = modelUses(graph).filter(({ choice }) => !isPriceKnown(choice));
  const advice = "Set it in the provider's settings, or limit tokens instead.";
  if (unknown.some(({ choice }) => isStandard(choice)))
    report.warning(
      "W_PRICE_UNKNOWN",
      { kind: "workflow", field: "budget.max_cost_usd" },
      `This workflow has a budget in dollars, but the price of the default model is unknown. ${advice}`,
    );
  const reported = new Set<string>();
  for (const { node, field, choice } of unknown) {
    if (isStandard(choice) || reported.has(node.id)) continue;
    reported.add(node.id);
    report.warning(
      "W_PRICE_UNKNOWN",
      { kind: "node", id: node.id, field },
      `This workflow has a budget in dollars, but the price of ${choice.model ? `"${choice.model}"` : "the model"}, which ${nameOf(node)} uses, is unknown. ${advice}`,
    );
  }
}

/** Keys that two nodes may write at the same time. */
export function checkParallelWrites({ graph, analysis, report }: Check): void {
  for (const { key, nodes } of parallelWrites(graph, analysis))
    report.warning(
      "W_PARALLEL_WRITE",
      { kind: "node", id: nodes[1], field: "output_keys" },
      `${named(graph, nodes[0])} and ${named(graph, nodes[1])} can write "${key}" in parallel, so one value would be lost. Use separate keys, or set a merge rule.`,
      { kind: "set_reducer", key, reducer: "append", label: "Collect both values" },
    );
}

/** Crews and agents that a node names must be in the library, unless a copy came with it. */
export function checkLibrary({ graph, report, here: { library } }: Check): void {
  if (!library) return;
  for (const node of Object.values(graph.nodes)) {
    if (isAgentNode(node) && !node.config.agent) {
      const { agent_ref } = node.config;
      if (agent_ref && !library.agent(agent_ref))
        report.error(
          "E_AGENT_UNKNOWN",
          { kind: "node", id: node.id, field: "agent_ref" },
          `${nameOf(node)} uses the agent "${agent_ref}", which isn't in the library. Choose another agent, or use only a role.`,
        );
    }
    if (!isCrewNode(node) || node.config.crew) continue;
    const id = node.config.crew_id_or_config_ref;
    if (id && !library.crew(id))
      report.error(
        "E_CREW_UNKNOWN",
        { kind: "node", id: node.id, field: "crew" },
        `${nameOf(node)} uses the crew "${id}", which isn't in the library. Choose another crew, or add its members here.`,
      );
  }
}
