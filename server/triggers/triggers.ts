import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunStore } from "@/server/store/runs/runs";
import { newEndedWorkflows } from "./ended-workflow";
import { newPlannedTimes } from "./planned-times";
import { Schedules } from "./schedule";
import { TriggerHost } from "./trigger-host";
import { newWebhooks } from "./webhook";

/** All triggers of an installation. */
export function newTriggers(
  parts: ConstructorParameters<typeof TriggerHost>[0] & {
    runs: Pick<RunStore, "find" | "state">;
    /** The graph that a workflow's triggers run; undefined if it was deleted. */
    graphOf(workflowId: string): WorkflowGraph | undefined;
    /** Cancels a run. Has no effect if it is already being cancelled. */
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
    /** Starts firing, beginning with fires that an earlier process left open. */
    start(): void {
      host.start();
      host.recover();
      ended.recover();
      schedules.start();
    },
    /** Call after triggers were created, saved or deleted. */
    changed,
    ...newPlannedTimes({ ...parts, changed }),
    stop(): void {
      schedules.stop();
      host.stop();
    },
  };
}
export type Triggers = ReturnType<typeof newTriggers>;
