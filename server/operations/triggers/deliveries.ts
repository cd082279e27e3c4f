import { z } from "zod";
import { DeliveryReplay, MOST_DELIVERIES } from "@/server/domain/scenario/deliveries";
import { type Delivered, replayDeliveries } from "@/server/runner/scenario/deliveries";
import { operationsOf } from "../operation";
import { refuseUnpriced } from "../scenarios/comparisons";
import { refuseUnrunnable, spendingCapFor, testedOf, WithRealModels } from "../scenarios/stored-tests";
import type { Services } from "../services";
import { workflowOf } from "../workflows/stored-workflow";
import { namesTrigger, triggerOf } from "./triggers";

const { mutation } = operationsOf("Triggers");

/** The newest fires whose runs have finished and still exist. */
function deliveredBy({ triggerStore, runs }: Services, triggerId: string, limit: number): Delivered[] {
  const found: Delivered[] = [];
  for (const { key, planned_at, run_id } of triggerStore.fires(triggerId)) {
    if (found.length === limit) break;
    if (run_id !== null && runs.find(run_id)?.status === "finished")
      found.push({ key, at: planned_at, run_id, journal: () => runs.journal(run_id) });
  }
  return found;
}

export const deliveryOperations = {
  replay: mutation({
    name: "replayDeliveries",
    summary: "Replay a trigger's last deliveries on the draft",
    about:
      "Compares what the draft would have done with what happened. Nothing is stored and no tool has side effects. Requests equal to recorded ones get the recorded answers. Without `real`, a delivery is `unanswered` if the draft makes a new request, and `estimate_usd` is the recorded cost of those deliveries' runs. With `real`, models answer new requests, up to `max_cost_usd`. Stops when the caller disconnects.",
    needs: ["run", "read"],
    input: z
      .object({
        trigger_id: z.string(),
        limit: z.int().min(1).max(MOST_DELIVERIES).default(MOST_DELIVERIES),
        ...WithRealModels,
      })
      .strict(),
    output: DeliveryReplay,
    problems: ["not_found", "bad_request", "workflow_has_problems", "queue_full"],
    http: { route: "POST /triggers/{id}/replay", success: "The deliveries, newest first" },
    cli: [{ form: "trigger replay TRIGGER", ...namesTrigger }],
    async run(services, { trigger_id, limit, ...money }, { signal }) {
      const workflow = workflowOf(services, triggerOf(services, trigger_id).workflow_id);
      const tested = testedOf(services, workflow);
      refuseUnrunnable(tested, workflow);
      const spendingCap = spendingCapFor(money);
      if (spendingCap) refuseUnpriced(services, [tested], []);
      const delivered = deliveredBy(services, trigger_id, limit);
      const { testGates, testParts: parts } = services;
      const deliveries = await testGates.through(spendingCap ? "real" : "offline", signal, () =>
        replayDeliveries({ tested, delivered, parts, spendingCap, aborted: signal }),
      );
      return {
        deliveries,
        estimate_usd: deliveries
          .filter(({ status }) => status === "unanswered")
          .reduce<number | null>(
            (sum, { recorded: { cost_usd } }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
            0,
          ),
        ...(spendingCap && { spending: spendingCap.spending }),
      };
    },
  }),
};
