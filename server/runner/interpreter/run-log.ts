import type { DurableContext } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import { SIZES, sizeOf } from "@/server/domain/base/sizes";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { StateReads } from "@/server/domain/run/state-reads";
import { ErrorCount } from "./error-count";
import { LoopWatch } from "./loop-watch";
import { PausePoints } from "./pause-points";
import { tooLarge } from "./steps";

/** Size of an event in addition to its payload. */
const EVENT_CHARS = 120;

/** A run's log: gives each event its place, folds it into the state, and hands it to the engine. */
export class RunLog {
  readonly s: RunState;
  a: Analysis;
  /** When the present answer was recorded, Unix time in milliseconds. */
  at: number;
  /** How much was recorded so far, in characters. */
  chars: number;
  readonly reads = new StateReads();
  readonly pausePoints: PausePoints;
  readonly errors: ErrorCount;
  private readonly loops = new LoopWatch();
  private skippedTargets: string[] = [];
  /** The command that is being applied, until an event carries its id. */
  commandId: string | null = null;

  constructor(
    private readonly ctx: Pick<DurableContext<RunEvent>, "runId" | "begunAt" | "asRecorded" | "emit">,
    created: RunEvent,
  ) {
    this.at = ctx.begunAt;
    this.s = evolve(newRun(ctx.runId), created);
    this.chars = sizeOf(created.payload);
    this.a = analysisOf(this.s.graph);
    this.errors = new ErrorCount(this.s);
    this.pausePoints = new PausePoints(this.s, () => this.at);
  }

  get isPaused(): boolean {
    return this.s.run.paused_at !== undefined;
  }

  /**
   * Records an event. Throws NodeFailure where it is larger than any log takes; then nothing has happened.
   */
  apply(made: NewEvent): void {
    const id = this.commandId;
    this.commandId = null;
    const event = id === null ? made : { ...made, command_id: id };
    const size = sizeOf(event.payload);
    if (size > SIZES.event) throw tooLarge(`The event to record (${event.type})`, size, SIZES.event);
    // Who made the event hands it over, so it need not be copied on this hot path; the type cannot say that it gets its place here.
    const placed = event as RunEvent;
    placed.seq = this.s.seq + 1;
    placed.ts = this.at;
    const counted = this.ctx.asRecorded(placed);
    this.chars += (counted === placed ? size : sizeOf(counted.payload)) + EVENT_CHARS;
    evolve(this.s, counted);
    this.reads.note(counted, counted.seq);
    this.ctx.emit(counted);
    if (event.type === "edge_skipped") this.skippedTargets.push(must(event, "node_id"));
    if (event.type === "loop_iteration") this.watchLoop(must(event, "node_id"));
    this.pausePoints.heed(event);
    this.errors.heed(event);
  }

  applyAll(events: readonly NewEvent[]): void {
    for (const event of events) this.apply(event);
  }

  /** Targets of the edges that were skipped since the last call. */
  takeSkipped(): string[] {
    const targets = this.skippedTargets;
    this.skippedTargets = [];
    return targets;
  }

  /** The graph was replaced: recomputes its analysis. */
  graphChanged(): void {
    this.a = analysisOf(this.s.graph);
  }

  /** Warns where a loop repeats without changing anything. It may be waiting for the world, so it continues. */
  private watchLoop(node_id: string): void {
    const message = this.loops.round(node_id, this.s);
    if (message !== null)
      this.apply({ type: "warning", node_id, payload: { code: "LOOP_UNCHANGED", message } });
  }
}

const analyses = new WeakMap<WorkflowGraph, Analysis>();

/** What a graph means; worked out once for all runs that share it, since no run changes it. */
function analysisOf(graph: WorkflowGraph): Analysis {
  let known = analyses.get(graph);
  if (!known) analyses.set(graph, (known = analyse(graph)));
  return known;
}
