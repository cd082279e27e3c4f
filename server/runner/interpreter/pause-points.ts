import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { canonicalJson } from "@/server/domain/base/json";
import type { RunState } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { NewEvent } from "@/server/domain/run/events";
import type { PausedPlace } from "@/server/domain/run/events/control-events";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import { type Place, placesAfter } from "./places";

export type PausePoint = { reason: "step" | "breakpoint"; at: PausedPlace };

/** Knows where a run is to be held: the breakpoints, how often each was come to, and the steps that a person takes. */
export class PausePoints {
  private readonly hits = new Map<string, number>();
  /** Where an event has led to that the run is to be held at, as soon as nothing is half done. */
  due: PausePoint | null = null;

  constructor(
    private readonly s: RunState,
    private readonly now: () => number,
  ) {}

  /** Whether anything can hold this run but a person. */
  get isWatching(): boolean {
    const { breakpoints = [], stepping } = this.s.run;
    return breakpoints.length > 0 || stepping !== undefined || this.asksForEffects;
  }

  /** Why the run pauses here; null if it doesn't. `hasStood`: it already paused here, so a step continues. */
  at(place: Place, hasStood = false): PausePoint | null {
    const breakpoint = this.breakpointAt(place);
    if (breakpoint) return { reason: "breakpoint", at: { ...placeOf(place), breakpoint } };
    const { stepping } = this.s.run;
    const isStep = place.point === "node_start" || (place.isTurn === true && stepping === "turn");
    if (stepping && isStep && !hasStood) return { reason: "step", at: placeOf(place) };
    if (this.asksForEffects && place.hasEffect) return { reason: "breakpoint", at: placeOf(place) };
    return null;
  }

  /** An event was recorded: where it leads to a place at which the run is to be held, that is due. */
  heed(event: NewEvent): void {
    if (event.type === "breakpoints_set" && isSince(this.s.run, 3))
      this.forgetOthers(event.payload.breakpoints);
    if ((this.s.run.breakpoints ?? []).length === 0) return;
    for (const place of placesAfter(event)) {
      const hold = this.at(place, true);
      this.due ??= hold;
    }
  }

  /** What is set again after it was gone counts from the start; what stays keeps its count. */
  private forgetOthers(breakpoints: readonly Breakpoint[]): void {
    const kept = new Set(breakpoints.map((one) => canonicalJson(one)));
    for (const key of this.hits.keys()) if (!kept.has(key)) this.hits.delete(key);
  }

  /** Before what does more than read, in the mode that asks for it. */
  private get asksForEffects(): boolean {
    return this.s.run.config.mode === "hitl" && this.s.run.can_hold === true;
  }

  /** The breakpoint that holds here. Each that is come to counts, whether or not another one holds already. */
  private breakpointAt(place: Place): Breakpoint | undefined {
    const { breakpoints = [] } = this.s.run;
    const [first] = breakpoints.filter((breakpoint) => fits(breakpoint, place) && this.isHit(breakpoint));
    return first;
  }

  private isHit(breakpoint: Breakpoint): boolean {
    if (!this.isTrue(breakpoint)) return false;
    const key = canonicalJson(breakpoint);
    const count = (this.hits.get(key) ?? 0) + 1;
    this.hits.set(key, count);
    return count >= (breakpoint.hit_count ?? 1);
  }

  /** A condition that can't be evaluated counts as false; the run continues as it would without the breakpoint. */
  private isTrue({ condition }: Breakpoint): boolean {
    if (!condition) return true;
    const { state, outputs, input, run } = this.s;
    try {
      const scope = { state, nodes: outputs, input, run: { id: run.id }, now: this.now() };
      return evaluateCondition(condition, scope).value;
    } catch {
      return false;
    }
  }
}

/** What does not name a place narrows nothing down. */
function fits(breakpoint: Breakpoint, place: Place): boolean {
  const { on, node_id, agent_id, tool, key, edge_id, enabled = true } = breakpoint;
  return (
    enabled &&
    on === place.point &&
    (node_id === undefined || node_id === place.node_id) &&
    (agent_id === undefined || agent_id === place.agent_id) &&
    (tool === undefined || tool === place.tool) &&
    (key === undefined || key === place.key) &&
    (edge_id === undefined || edge_id === place.edge_id)
  );
}

const placeOf = ({ isTurn: _t, hasEffect: _e, ...place }: Place): PausedPlace => place;
