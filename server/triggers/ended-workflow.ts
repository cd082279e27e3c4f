import type { FinalStatus } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields } from "@/server/domain/graph/run-input";
import { MAX_DEPTH } from "@/server/domain/trigger/trigger";
import { type EndedRun, endedInput } from "@/server/domain/trigger/trigger-input";
import type { RunStore, RunSummary } from "@/server/store/runs/runs";
import type { StoredTriggerOf, TriggerStore } from "@/server/store/triggers/triggers";
import type { TriggerHost } from "./trigger-host";

type EndTrigger = StoredTriggerOf<"workflow">;

interface Parts {
  host: TriggerHost;
  store: TriggerStore;
  runs: Pick<RunStore, "find" | "state">;
  /** The graph that a workflow's triggers run. */
  graphOf(workflowId: string): WorkflowGraph | undefined;
}

/** Ends of runs that are stored together can arrive out of order. */
const OVERLAP_MS = 60_000;

/** A run that stopped at a limit counts as failed. */
const ENDINGS = { completed: ["COMPLETED"], failed: ["INCOMPLETE", "ERROR"] } as const satisfies Record<
  EndedRun["status"],
  FinalStatus[]
>;
const endingsOf = ({ config }: EndTrigger): FinalStatus[] => config.on.flatMap((status) => ENDINGS[status]);

/** Tests, child runs, forks and replays start nothing. */
const isOwnWork = ({ trigger, parent, origin }: RunSummary) => trigger !== "test" && !parent && !origin;

/** Whether a trigger fires for the end of this run. */
const isMeant = (trigger: EndTrigger, run: RunSummary): boolean =>
  trigger.enabled &&
  trigger.config.workflow_id === run.workflow_id &&
  run.final_status !== null &&
  endingsOf(trigger).includes(run.final_status) &&
  isOwnWork(run);

/** Starts runs when runs of other workflows end. */
export function newEndedWorkflows({ host, store, runs, graphOf }: Parts) {
  const fireFor = (trigger: EndTrigger, run: RunSummary) => {
    const graph = isMeant(trigger, run) ? graphOf(trigger.workflow_id) : undefined;
    if (!graph || store.fire(trigger.id, run.id)) return;
    const ended = runs.state(run.id)?.run;
    const depth = (ended?.origin?.depth ?? 0) + 1;
    const fire = { key: run.id, planned_at: run.finished_at ?? run.created_at, depth, input: {} };
    if (depth > MAX_DEPTH) {
      const reason = `This is the end of a chain of ${MAX_DEPTH} ended runs, which is the maximum.`;
      store.addFire(trigger.id, { ...fire, status: "skipped", reason });
      return;
    }
    const mapped = endedInput(
      trigger.config,
      inputFields(graph).map(({ key }) => key),
      {
        run_id: run.id,
        status: run.final_status === "COMPLETED" ? "completed" : "failed",
        output: ended?.output ?? {},
        error: ended?.error?.message ?? null,
      },
      fire.planned_at,
    );
    if ("input" in mapped) {
      host.fire(trigger, { ...fire, input: mapped.input });
      return;
    }
    const [first] = mapped.errors;
    const reason = `The input "${first?.key}" has no value: ${first?.message}`;
    store.addFire(trigger.id, { ...fire, status: "failed", reason });
    host.countFailures(trigger.id);
  };

  host.whenEnded((run) => {
    for (const trigger of store.ofKind("workflow")) fireFor(trigger, run);
  });

  return {
    /** After a start: fires for runs that ended while the server was down. */
    recover(): void {
      for (const trigger of store.ofKind("workflow")) {
        const missed = store.missedEnds({
          trigger: trigger.id,
          workflow: trigger.config.workflow_id,
          endings: endingsOf(trigger),
          since: trigger.updated_at,
          overlap: OVERLAP_MS,
        });
        for (const id of missed) {
          const run = runs.find(id);
          if (run) fireFor(trigger, run);
        }
      }
    },
  };
}
