import { isStandard, modelUses } from "@/server/domain/library/model-uses";
import type { Check } from "../check";
import { nameOf } from "../names";

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
      `This workflow has a budget in dollars, but the price of the standard model is unknown. ${advice}`,
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
