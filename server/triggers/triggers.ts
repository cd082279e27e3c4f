import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunStore } from "@/server/store/runs/runs";
import { newEndedWorkflows } from "./ended-workflow";
import { newPlannedTimes } from "./planned-times";
import { Schedules } from "./schedule";
import { TriggerHost } from "./trigger-host";
import { newWebhooks } from "./webhook";

/** Everything that starts runs by itself. */
export function newTriggers(
  parts: ConstructorParameters<typeof TriggerHost>[0] & {
    runs: Pick<RunStore, "find" | "state">;
    /** The graph that a workflow's triggers run; undefined if it was deleted. */
    graphOf(workflowId: string): WorkflowGraph | undefined;
    /** Cancels a run; one that is being cancelled already is not changed. */
    cancel(runId: string, about: { by: string; reason: string }): void;
    now?: () => number;
  },
) {
  const host = new TriggerHost(parts);
  const ended = newEndedWorkflows({ ...parts, host });
  const webhooks = newWebhooks({ ...parts, host });
  const schedules = new Schedules({ ...parts, host });
  const changed = () => schedules.changed();
  return {
    receive: webhooks.receive,
    fire: host.fire.bind(host),
    retry: host.retry.bind(host),
    untilEnd: host.untilEnd.bind(host),
    graphOf: parts.graphOf,
    /** Begins to start runs by itself, first those that an earlier process left. */
    start(): void {
      host.start();
      host.recover();
      ended.recover();
      schedules.start();
    },
    /** Triggers were created, saved or deleted. */
    changed,
    ...newPlannedTimes({ ...parts, changed }),
    stop(): void {
      schedules.stop();
      host.stop();
    },
  };
}
export type Triggers = ReturnType<typeof newTriggers>;
