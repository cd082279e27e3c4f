import { defined } from "@/server/domain/base/defined";
import { newRecord } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import {
  checkExpression,
  ExpressionError,
  evaluateCondition,
} from "@/server/domain/text/expression/expression";
import { evolve, newRun, type RunState } from "..";
import type { RunEvent } from "../events";
import { writtenKeys } from "./key-history";

/** When a condition became true, and until when it held. */
export interface Held {
  /** The event that made it true; the first event of the run if it was true from the start. */
  from: number;
  /** The event that ended it; null where it held to the end. */
  to: number | null;
  node_id?: string;
  activation_id?: string;
}

export interface WhenTrue {
  /** The latest first. */
  held: Held[];
  /** Whether it holds at the end of what was looked at. */
  isNow: boolean;
  /** The earliest event that was looked at: before it, the budget was used up. 1 where all was looked at. */
  searched_to: number;
  /** Why it could not be decided somewhere, once: a value of another type, a list out of bounds. */
  undecided?: string;
}

/** So much work one search may take, in units of the work budget: fifty times what one step of a run may. */
export const SEARCH_UNITS = 50 * WORK_LIMITS.units;
/** The maximum number of spans returned. */
export const MOST_SPANS = 100;

interface Change {
  event: RunEvent;
  /** What to put back to be where it was before. */
  undo: { where: "state" | "nodes"; key: string; before: Json | undefined }[];
}

/**
 * When a CEL condition over state, input, nodes and run became true: undoes one change after another from the last
 * event backwards, until it reaches the beginning or its work limit. Throws ExpressionError for a condition that can't
 * be parsed, and only for that.
 */
export function whenTrue(
  events: readonly RunEvent[],
  condition: string,
  { units = SEARCH_UNITS }: { units?: number } = {},
): WhenTrue {
  const [diagnostic] = checkExpression(condition, { result: "bool" });
  if (diagnostic) throw new ExpressionError(diagnostic.message, condition, diagnostic.from, diagnostic.to);
  const { end, changes } = changesOf(events);
  const scope = { state: newRecord(end.state), nodes: newRecord<Json>(end.outputs), input: end.input };
  const run = { id: end.run.id, workflow_id: end.run.workflow_id };
  const work = new Work(units);
  const found: WhenTrue = { held: [], isNow: false, searched_to: (events.at(-1)?.seq ?? 0) + 1 };
  const holds = (now: number): boolean => {
    try {
      return evaluateCondition(condition, { ...scope, run, now }, work).value;
    } catch (error) {
      if (!(error instanceof ExpressionError) || work.remaining < 0) throw error;
      found.undecided ??= error.message;
      return false;
    }
  };
  const place = ({ seq, node_id, activation_id }: RunEvent): Omit<Held, "to"> => ({
    from: seq,
    ...defined({ node_id: node_id || undefined, activation_id: activation_id || undefined }),
  });
  try {
    let after = holds(events.at(-1)?.ts ?? 0);
    found.isNow = after;
    let to: number | null = null;
    for (const { event, undo } of changes.toReversed()) {
      for (const { where, key, before } of undo)
        if (before === undefined) delete scope[where][key];
        else scope[where][key] = before;
      const before = holds(event.ts);
      found.searched_to = event.seq;
      if (after && !before) found.held.push({ ...place(event), to });
      if (!after && before) to = event.seq;
      if (found.held.length >= MOST_SPANS) return found;
      after = before;
    }
    found.searched_to = 1;
    if (after) found.held.push({ from: 1, to });
  } catch (error) {
    if (work.remaining >= 0) throw error;
  }
  return found;
}

function changesOf(events: readonly RunEvent[]): { end: RunState; changes: Change[] } {
  const end = newRun();
  const changes: Change[] = [];
  for (const event of events) {
    const undo: Change["undo"] = writtenKeys(event).map((key) => ({
      where: "state",
      key,
      before: end.state[key],
    }));
    if (event.type === "node_completed" && event.node_id)
      undo.push({ where: "nodes", key: event.node_id, before: end.outputs[event.node_id] });
    evolve(end, event);
    if (undo.length > 0) changes.push({ event, undo });
  }
  return { end, changes };
}
