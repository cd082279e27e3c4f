import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields } from "@/server/domain/graph/run-input";
import { MAX_DEPTH } from "@/server/domain/trigger/trigger";
import { type EndedRun, endedInput } from "@/server/domain/trigger/trigger-input";
import type { RunStore, RunSummary } from "@/server/store/runs/runs";
import type { StoredTrigger, TriggerStore } from "@/server/store/triggers";
import type { TriggerHost } from "./trigger-host";

type EndTrigger = Extract<StoredTrigger, { kind: "workflow" }>;

interface Parts {
  host: TriggerHost;
  store: TriggerStore;
  runs: Pick<RunStore, "find" | "state">;
  /** The graph that a workflow's triggers run. */
  graphOf(workflowId: string): WorkflowGraph | undefined;
}

/** Ends of runs that are stored in one go need not be seen in the order of their times. */
const OVERLAP_MS = 60_000;

/** A run that stopped at a limit did not do its work. */
const STATUS: Readonly<Record<string, EndedRun["status"]>> = {
  COMPLETED: "completed",
  INCOMPLETE: "failed",
  ERROR: "failed",
};

/** Starts runs when runs of other workflows end. */
export function newEndedWorkflows({ host, store, runs, graphOf }: Parts) {
  const fireFor = (trigger: EndTrigger, run: RunSummary) => {
    const status = STATUS[run.final_status ?? ""];
    const isMeant = trigger.enabled && trigger.config.workflow_id === run.workflow_id;
    // Tests, parts of other runs, forks and replays are no work of their own.
    if (!isMeant || run.trigger === "test" || run.parent || run.origin) return;
    if (status === undefined || !trigger.config.on.includes(status)) return;
    const graph = graphOf(trigger.workflow_id);
    if (!graph || store.fire(trigger.id, run.id)) return;
    const ended = runs.state(run.id)?.run;
    const depth = (ended?.origin?.depth ?? 0) + 1;
    const fire = { key: run.id, planned_at: run.finished_at ?? run.created_at, depth };
    const refuse = (reason: string) => {
      store.addFire(trigger.id, { ...fire, input: {}, status: "skipped", reason });
    };
    if (depth > MAX_DEPTH)
      return refuse(`${MAX_DEPTH} ended runs led to this one, one through another. No further run starts.`);
    const mapped = endedInput(
      trigger.config,
      inputFields(graph).map(({ key }) => key),
      { run_id: run.id, status, output: ended?.output ?? {}, error: ended?.error?.message ?? null },
      fire.planned_at,
    );
    if ("input" in mapped) return void host.fire(trigger, { ...fire, input: mapped.input });
    const [first] = mapped.errors;
    store.addFire(trigger.id, {
      ...{ ...fire, input: {}, status: "failed" },
      reason: `The input "${first?.key}" has no value: ${first?.message}`,
    });
    host.countFailures(trigger.id);
  };

  host.whenEnded((run) => {
    for (const trigger of store.ofKind("workflow")) fireFor(trigger, run);
  });

  return {
    /** After a start: fires for runs that ended while no one watched. */
    recover(): void {
      for (const trigger of store.ofKind("workflow"))
        for (const id of store.missedEnds(trigger, trigger.config.workflow_id, OVERLAP_MS)) {
          const run = runs.find(id);
          if (run) fireFor(trigger, run);
        }
    },
  };
}
