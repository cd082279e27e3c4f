import { defined } from "@/server/domain/base/defined";
import { canonicalJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { forkedChildId } from "@/server/domain/run/child-id";
import type { NewRun, RunStore } from "@/server/store/runs/runs";
import { childResultOf } from "../children/child-run";
import { planFork } from "../fork/fork";
import { INTERPRETER_VERSION } from "../interpreter/execute";
import type { Watchers } from "../log/followers";
import type { ChildRunner, ChildStart } from "../node/ports";
import type { LiveRuns } from "./live-runs";
import type { RunExecutor } from "./run-executor";
import type { StartRequest } from "./start-request";

interface Parts {
  store: RunStore;
  live: LiveRuns;
  runs: Pick<RunExecutor, "start">;
  watchers: Watchers;
  /** The first event of a run. */
  creation(request: StartRequest): NewRun["created"];
  now(): number;
  /** Queues a run that was created. */
  begin(id: string, created: NewRun["created"], isFork: boolean): void;
  cancel(id: string, about: { by: string; reason: string }): boolean;
}

interface Waiter {
  parent: string;
  resolve(result: Json): void;
}

/**
 * Runs that nodes of other runs start. Each has an id that follows from its place in its parent, so that a parent that is
 * taken up again finds those it had started.
 */
export class ChildRuns implements ChildRunner {
  private readonly waiting = new Map<string, Waiter>();
  /** Runs that each parent in memory waits for. */
  private readonly byParent = new Map<string, Set<string>>();

  constructor(private readonly parts: Parts) {
    parts.watchers.watch(({ run_id, status }) => {
      if (status === "finished") this.ended(run_id);
    });
  }

  run(start: ChildStart, abort: AbortSignal): Promise<Json> {
    const id = this.idOf(start);
    const known = this.parts.store.standing(id);
    if (known?.status === "finished") return Promise.resolve(this.resultOf(id));
    return new Promise((resolve, reject) => {
      this.wait(id, { parent: start.request.parent.run_id, resolve });
      abort.addEventListener("abort", () => this.forget(id));
      try {
        if (!known) this.create(id, start);
      } catch (error) {
        this.forget(id);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  cancel(start: ChildStart): void {
    this.end(this.idOf(start), "The node that started this run no longer waits for it.");
  }

  /**
   * A fork asks for the run that its original had started. Unless that has completed by then, the fork gets a separate one,
   * and keeps it.
   */
  private idOf({ run_id, request: { parent } }: ChildStart): string {
    const { store } = this.parts;
    const known = store.standing(run_id);
    if (!known || known.parent === parent.run_id) return run_id;
    const own = forkedChildId(parent.run_id, run_id);
    return known.final_status === "COMPLETED" && !store.standing(own) ? run_id : own;
  }

  private end(runId: string, reason: string): void {
    const standing = this.parts.store.standing(runId);
    if (standing && standing.status !== "finished") this.parts.cancel(runId, { by: "run", reason });
  }

  /** Ends what a run started, once it has ended otherwise than by its own computation. */
  cancelChildren(parent: string): void {
    for (const id of this.parts.store.openChildren(parent))
      this.end(id, "The run that started this one has ended.");
  }

  /** After a start: ends the runs whose parents have ended meanwhile. */
  cancelOrphans(): void {
    for (const id of this.parts.store.orphans()) this.end(id, "The run that started this one has ended.");
  }

  /** Whether a run that waits can leave the memory: everything that it waits for has left it too. */
  mayLeave(parent: string): boolean {
    for (const id of this.byParent.get(parent) ?? []) if (!this.parts.live.isAsleep(id)) return false;
    return true;
  }

  private wait(id: string, waiter: Waiter): void {
    this.waiting.set(id, waiter);
    const siblings = this.byParent.get(waiter.parent);
    if (siblings) siblings.add(id);
    else this.byParent.set(waiter.parent, new Set([id]));
  }

  private forget(id: string): Waiter | undefined {
    const waiter = this.waiting.get(id);
    this.waiting.delete(id);
    if (!waiter) return undefined;
    const siblings = this.byParent.get(waiter.parent);
    siblings?.delete(id);
    if (siblings?.size === 0) this.byParent.delete(waiter.parent);
    return waiter;
  }

  private ended(id: string): void {
    const waiter = this.forget(id);
    if (waiter) return waiter.resolve(this.resultOf(id));
    const parent = this.parts.store.standing(id)?.parent;
    if (parent === null || parent === undefined || this.parts.live.has(parent)) return;
    const standing = this.parts.store.standing(parent);
    if (standing?.status === "waiting") this.parts.runs.start(parent, standing.workflow_id);
  }

  private resultOf(id: string): Json {
    const state = this.parts.live.get(id)?.turns?.state ?? this.parts.store.state(id);
    if (!state) throw new Error(`The run ${id} is gone.`);
    return childResultOf(state);
  }

  private create(id: string, { run_id, request, originals }: ChildStart): void {
    const { store, creation, begin } = this.parts;
    const original = [run_id, ...originals].find((one) => one !== id && store.standing(one));
    if (original === undefined) {
      const created = creation(request);
      store.create({ id, created, interpreterVersion: INTERPRETER_VERSION, idempotencyKey: null });
      return begin(id, created, false);
    }
    const { run, isPaused } = this.forkOf(original, id, request);
    store.create(run);
    // Its original is paused; the run that asks for this one is not.
    if (isPaused) store.command(id, { kind: "resume", by: "run" }, this.parts.now());
    begin(id, run.created, true);
  }

  /**
   * The run begins as that of the original did, so that a person is asked before anything is done outside once more. One that
   * was still active with the same input continues from there.
   */
  private forkOf(original: string, id: string, request: StartRequest): { run: NewRun; isPaused: boolean } {
    const { store, now } = this.parts;
    const { input, graph, roles, foreign, workflows, config, parent, trigger, origin: by } = request;
    const before = store.state(original);
    if (!before) throw new Error(`The run ${original} is gone.`);
    const isSame = isEqual(before.input, input) && isEqual(before.graph, graph);
    const isActive = isSame && before.run.status !== "finished";
    const {
      origin,
      warnings: _w,
      ...planned
    } = planFork(
      store,
      {
        run_id: original,
        ...(isActive ? { at: { seq: before.seq } } : isSame ? {} : { input }),
        patches: {},
        graph: isSame ? "original" : "latest",
        ...(isSame
          ? {}
          : { latest: { graph, roles, foreign, workflows, workflow_version: request.workflow_version } }),
        by: "run",
        trigger,
        retries: true,
      },
      now(),
    );
    const { payload } = planned.created;
    const own = defined({ parent, origin: by, foreign: isActive ? payload.foreign : foreign });
    const created = { ...planned.created, payload: { ...payload, config, ...own } };
    return {
      run: { id, idempotencyKey: null, origin, ...planned, created },
      isPaused: isActive && before.run.paused_at !== undefined,
    };
  }
}

const isEqual = (a: JsonObject | WorkflowGraph, b: JsonObject | WorkflowGraph): boolean =>
  canonicalJson(a) === canonicalJson(b);
