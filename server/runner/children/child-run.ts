import { createHash } from "node:crypto";
import { z } from "zod";
import { FinalStatus, type RaisableLimit, RunConfig, RunError, Usage } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Flow, StepRequest } from "@/server/domain/base/durable";
import { asJson, canonicalJson, textsIn } from "@/server/domain/base/json";
import { type Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { NodeFailure } from "@/server/domain/nodes";
import { childKey, type RunState } from "@/server/domain/run";
import { childId } from "@/server/domain/run/child-id";
import type { CalledWorkflow, ChildBudget } from "@/server/domain/run/events/child-events";
import type { ForeignText } from "@/server/domain/run/foreign-text";
import { writtenAs } from "@/server/domain/run/fork/lineage";
import { textHash } from "@/server/domain/text/text-hash";
import { personsTexts } from "../node/judged-context";
import type { AgentRuntime, ChildRunner, ChildStart } from "../node/ports";
import { type Caller, makeCall } from "../replay/make-call";

/** What a child run gives back, as its parent's log keeps it. */
export const ChildResult = z.object({
  run_id: z.string(),
  final_status: FinalStatus,
  error: RunError.optional(),
  output: JsonObject,
  usage: Usage,
  cost_usd: z.number(),
  unknown_cost_calls: z.number(),
  taint_sources: z.array(z.string()),
  simulated: z.boolean(),
  /** The run that started it, and for how long it was active, in milliseconds; absent from older results. */
  parent_run: z.string().optional(),
  active_ms: z.number().optional(),
});
export type ChildResult = z.infer<typeof ChildResult>;

/** The result of a run that has ended. */
export const childResultOf = ({ run, totals, taint_sources }: RunState): Json =>
  asJson(
    defined({
      run_id: run.id,
      final_status: run.final_status ?? "ERROR",
      error: run.error,
      output: run.output ?? {},
      usage: totals.usage,
      cost_usd: totals.cost_usd,
      unknown_cost_calls: totals.unknown_cost_calls,
      taint_sources: [...taint_sources],
      simulated: run.simulated,
      parent_run: run.parent?.run_id,
      active_ms: run.active_ms,
    }),
  );

/** What a run that a node starts needs of the attempt. */
export interface ChildRuntime
  extends Caller,
    Pick<
      AgentRuntime,
      "s" | "activationId" | "attempt" | "config" | "now" | "state" | "emit" | "hold" | "limitBeforeCall"
    > {
  readonly node: WorkflowNode;
  readonly runs: ChildRunner | undefined;
  /** Waits while the run is paused, or a person is asked whether it continues. */
  beforeChild(): Flow<void>;
  /** Counts the time in which a run that was waited for was active. */
  childEnded(activeMs: number): void;
}

/** What a node runs: another workflow, or a part of this one. */
export interface Target {
  /** Null for a part of the parent's workflow. */
  workflow_id: string | null;
  workflow: CalledWorkflow;
  /** How many runs share the parent's budget. */
  shares: number;
  /** Whether a person gave the parent a text. */
  isVouched(text: string): boolean;
}

/** Which texts count as a person's: those that the run was given, and those in the settings of the node. Computed once per node. */
export function vouchedTexts({ s, node }: ChildRuntime): Target["isVouched"] {
  const given = personsTexts(s);
  const foreign = new Set(s.run.foreign?.texts);
  const written = textsIn(asJson(node.config)).filter((text) => !foreign.has(textHash(text)));
  return (text) => given.has(text) || written.some((part) => part.includes(text));
}

/**
 * Runs a workflow as a separate run and waits for its end. The id of the run follows from the place in the parent, so that
 * a repeated step finds the run that it had started. Throws NodeFailure if it does not complete.
 */
export function* runChild(
  run: ChildRuntime,
  target: Target,
  input: JsonObject,
  item?: number,
): Flow<JsonObject> {
  const { workflow } = target;
  const depth = (run.s.run.parent?.depth ?? 0) + 1;
  if (depth > run.config.max_subrun_depth)
    throw new NodeFailure(
      "SUBRUN_FAILED",
      `${workflow.name} would be ${depth} ${depth === 1 ? "level" : "levels"} deep; at most ${run.config.max_subrun_depth} are allowed.`,
    );
  const [wrong] = findInputErrors(workflow.graph, input);
  if (wrong)
    throw new NodeFailure(
      "INPUT_MISSING",
      `The input "${wrong.key}" of ${workflow.name} is invalid: ${wrong.message}`,
    );
  for (let round = 0, before: ChildStart | undefined; ; round++) {
    yield* run.beforeChild();
    const budget = yield* budgetFor(run, target.shares);
    const start = startOf(run, target, { input, item, depth, budget, round, before });
    const { output, error, final_status } = yield* resultOf(run, target, { start, item, round, budget });
    if (final_status === "COMPLETED") return output;
    const spent = error?.code === "BUDGET" ? budget : null;
    const limit = spent ? budgetLimit(spent) : timeLimit(run, start, error);
    if (!limit)
      throw new NodeFailure(
        final_status === "CANCELLED" || error?.code === "CANCELLED" ? "CANCELLED" : "SUBRUN_FAILED",
        `${workflow.name} ${ENDED[final_status]}${error ? `: ${error.message}` : "."}`,
        { retryable: error?.retryable ?? false, user_action: error?.user_action ?? "retry" },
      );
    // A limit of this run stopped it. What others have not used may be enough; otherwise a person raises the limit.
    before = start;
    if (!spent || !hasTwice(shareOf(run.s, run.activationId, target.shares), spent)) yield* run.hold(limit);
  }
}

const budgetLimit = ({ max_total_tokens }: ChildBudget): RaisableLimit =>
  max_total_tokens === null ? "max_cost_usd" : "max_total_tokens";

/** The limit of active time, if it is this run's and not that of the child's own workflow. */
const timeLimit = (
  { config }: ChildRuntime,
  { request }: ChildStart,
  error: RunError | undefined,
): RaisableLimit | null =>
  error?.code === "TIME_LIMIT" && request.config.max_active_ms === config.max_active_ms
    ? "max_active_ms"
    : null;

/** Starts the run, unless it completed in an earlier attempt, and waits for it. */
function* resultOf(
  run: ChildRuntime,
  target: Target,
  about: { start: ChildStart; item: number | undefined; round: number; budget: ChildBudget | null },
): Flow<ChildResult> {
  const { s } = run;
  const { start, item, round, budget } = about;
  const { name } = target.workflow;
  const isDone = s.children.get(childKey(run.activationId, item))?.status === "completed";
  if (!isDone)
    run.emit({
      type: "child_started",
      payload: defined({ run_id: start.run_id, workflow_name: name, item, budget: budget ?? undefined }),
    });
  if (run.s.activations[run.activationId]?.waiting?.for !== "run")
    run.emit({ type: "node_waiting", payload: { for: "run" } });
  const { value, reused: recordedIn } = yield* makeCall(run, {
    key: `run${item ?? ""}${round === 0 ? "" : `/round${round}`}`,
    request: requestOf(run, target, start),
    work: ({ abort }) => {
      if (!run.runs) throw new NodeFailure("CONFIG", "Workflows can't be run from here.");
      return run.runs.run(start, abort);
    },
    question: { about: {}, tool_name: name, args: start.request.input },
  });
  const result = ChildResult.parse(value);
  const { output: _output, error, parent_run = s.run.id, active_ms = 0, ...finished } = result;
  // A fork may have waited for a run of its original, which paid for it.
  const reused = recordedIn ?? (parent_run === s.run.id ? undefined : parent_run);
  if (isDone) return result;
  if (!reused) run.childEnded(active_ms);
  run.emit({ type: "child_finished", payload: { ...finished, ...defined({ item, error, reused }) } });
  return result;
}

const hasTwice = (now: ChildBudget, before: ChildBudget): boolean =>
  (before.max_total_tokens === null || (now.max_total_tokens ?? 0) >= 2 * before.max_total_tokens) &&
  (before.max_cost_usd === null || (now.max_cost_usd ?? 0) >= 2 * before.max_cost_usd);

const ENDED: Readonly<Record<Exclude<FinalStatus, "COMPLETED">, string>> = {
  ERROR: "failed",
  INCOMPLETE: "stopped before its end",
  CANCELLED: "was cancelled",
};

/** A run that completed in an earlier attempt is used again; any other starts over. */
function startOf(
  run: ChildRuntime,
  { workflow, workflow_id, isVouched }: Target,
  about: {
    input: JsonObject;
    item: number | undefined;
    depth: number;
    budget: ChildBudget | null;
    round: number;
    before: ChildStart | undefined;
  },
): ChildStart {
  const { s, activationId } = run;
  const { input, item, depth, budget, round } = about;
  const before = s.children.get(childKey(activationId, item));
  const place = `${childKey(activationId, item)}/${run.attempt}${round === 0 ? "" : `/${round}`}`;
  return {
    run_id: before?.status === "completed" ? before.run_id : childId(writtenAs(s.run), place),
    // The nearest run of the lineage first.
    originals: [
      ...(about.before ? [about.before.run_id] : []),
      ...(s.run.forks ?? []).map(({ from_run }) => childId(from_run, place)).reverse(),
    ],
    request: {
      workflow_id,
      workflow_name: workflow.name,
      graph: workflow.graph,
      roles: workflow.roles,
      input,
      config: configFor(s, workflow.graph, budget),
      trigger: "workflow",
      // `foreign` says which of its input is untrusted.
      origin: { kind: "run", id: s.run.id, name: s.run.workflow_name, trusted: true },
      provider_summary: workflow.provider_summary,
      ...defined({
        workflow_version: workflow.version,
        context_windows: workflow.context_windows,
        installation: s.run.installation,
        foreign: foreignFor(s, { own: workflow.foreign, input, isVouched }),
        workflows: s.run.workflows && { ...s.run.workflows },
        variables: workflow.variables,
      }),
      parent: {
        run_id: s.run.id,
        activation_id: activationId,
        workflow_name: s.run.workflow_name,
        depth,
        taint_sources: s.taint_sources,
        confirmation: [...(s.run.parent?.confirmation ?? []), s.run.config.confirmation],
        ...defined({ item }),
      },
    },
  };
}

function requestOf(run: ChildRuntime, { workflow_id, workflow }: Target, start: ChildStart): StepRequest {
  const { request } = start;
  const isReplay = run.s.run.forks?.at(-1)?.replay !== undefined;
  return {
    kind: "run",
    again: "reuse",
    asked: () => asJson({ workflow: workflow_id, graph: hashOf(workflow.graph), input: request.input }),
    // A fork runs again what had failed.
    fits: (value) => isReplay || ChildResult.safeParse(value).data?.final_status === "COMPLETED",
    abandoned: () => run.runs?.cancel(start),
  };
}

const hashes = new WeakMap<WorkflowGraph, string>();

/** Worked out once for all items of a map. */
function hashOf(graph: WorkflowGraph): string {
  let known = hashes.get(graph);
  if (known === undefined)
    hashes.set(graph, (known = createHash("sha256").update(canonicalJson(graph)).digest("hex")));
  return known;
}

/** The settings of its workflow, within what is left of its parent's limits. */
function configFor(s: RunState, graph: WorkflowGraph, budget: ChildBudget | null): RunConfig {
  const own = RunConfig.parse(graph.config ?? {});
  const { config, stepping } = s.run;
  return {
    ...own,
    mode: stepping ? "step" : own.mode,
    budget: {
      ...own.budget,
      max_cost_usd: least(own.budget.max_cost_usd, budget?.max_cost_usd),
      max_total_tokens: least(own.budget.max_total_tokens, budget?.max_total_tokens),
    },
    max_active_ms: Math.min(own.max_active_ms, config.max_active_ms),
    max_subrun_depth: Math.min(own.max_subrun_depth, config.max_subrun_depth),
    denied_tools: [...new Set([...own.denied_tools, ...config.denied_tools])],
    ...defined({ escalate: own.escalate ?? config.escalate }),
  };
}

const least = (a: number | null | undefined, b: number | null | undefined): number | null =>
  a == null ? (b ?? null) : b == null ? a : Math.min(a, b);

/**
 * The part of the parent's budget that a run may use: what neither the parent nor its other runs have taken, in equal
 * shares. Waits at the limit while nothing is left. Null if the parent has no budget.
 */
function* budgetFor(run: ChildRuntime, shares: number): Flow<ChildBudget | null> {
  for (;;) {
    const limit = run.limitBeforeCall();
    const left = leftOf(run.s);
    const spent =
      limit ??
      (left.max_cost_usd !== null && left.max_cost_usd <= 0
        ? "max_cost_usd"
        : left.max_total_tokens !== null && left.max_total_tokens <= 0
          ? "max_total_tokens"
          : null);
    if (spent !== null && !(limit === null && isReserved(run.s))) {
      yield* run.hold(spent);
      continue;
    }
    if (left.max_cost_usd === null && left.max_total_tokens === null) return null;
    return shareOf(run.s, run.activationId, shares);
  }
}

/** An equal share of what is left. */
function shareOf(s: RunState, activationId: string, shares: number): ChildBudget {
  const left = leftOf(s);
  const others = Math.max(1, shares - runningIn(s, activationId)) + busyBeside(s);
  const share = (amount: number | null) => (amount === null ? null : Math.max(0, amount / others));
  const tokens = share(left.max_total_tokens);
  return {
    max_cost_usd: share(left.max_cost_usd),
    max_total_tokens: tokens === null ? null : Math.floor(tokens),
  };
}

const runningIn = ({ activations }: RunState, activationId: string): number =>
  activations[activationId]?.children?.running ?? 0;

/** Activations that may use the budget at the same time, beside those that wait for runs. */
const busyBeside = ({ activations, running, ready }: RunState): number =>
  Math.max(0, [...running].filter((id) => activations[id]?.status === "running").length + ready.length - 1);

const isReserved = (s: RunState): boolean =>
  [...s.children.values()].some(({ status, budget }) => status === "running" && budget !== undefined);

function leftOf({ run, totals, children }: RunState): ChildBudget {
  const { max_cost_usd = null, max_total_tokens = null } = run.config.budget;
  let cost = totals.cost_usd;
  let tokens = totals.usage.input_tokens + totals.usage.output_tokens;
  if (max_cost_usd !== null || max_total_tokens !== null)
    for (const { status, budget } of children.values())
      if (status === "running") {
        cost += budget?.max_cost_usd ?? 0;
        tokens += budget?.max_total_tokens ?? 0;
      }
  return {
    max_cost_usd: max_cost_usd === null ? null : max_cost_usd - cost,
    max_total_tokens: max_total_tokens === null ? null : max_total_tokens - tokens,
  };
}

/** Texts of a child's input that no person wrote: what models and tools made, and what came with files. */
function foreignFor(
  s: RunState,
  { own, input, isVouched }: { own: ForeignText | undefined; input: JsonObject } & Pick<Target, "isVouched">,
): ForeignText | undefined {
  const made = textsIn(input).filter((text) => text !== "" && !isVouched(text));
  const texts = new Set([...(own?.texts ?? []), ...made.map(textHash)]);
  if (texts.size === 0) return own;
  return {
    texts: [...texts],
    allowed: [...new Set([...(own?.allowed ?? []), ...(s.run.foreign?.allowed ?? [])])],
  };
}
