import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunStore } from "@/server/store/runs/runs";
import { newEndedWorkflows } from "./ended-workflow";
import { TriggerHost } from "./trigger-host";
import { newWebhooks } from "./webhook";

/** Everything that starts runs by itself. */
export function newTriggers(
  parts: ConstructorParameters<typeof TriggerHost>[0] & {
    runs: Pick<RunStore, "find" | "state">;
    /** The graph that a workflow's triggers run; undefined if it was deleted. */
    graphOf(workflowId: string): WorkflowGraph | undefined;
    now?: () => number;
  },
) {
  const host = new TriggerHost(parts);
  const ended = newEndedWorkflows({ ...parts, host });
  const webhooks = newWebhooks({ ...parts, host });
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
    },
    /** Triggers were created, saved or deleted. */
    changed(): void {},
    stop: host.stop.bind(host),
  };
}
export type Triggers = ReturnType<typeof newTriggers>;
