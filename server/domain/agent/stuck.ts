import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";

/**
 * Recognises an agent that goes round in circles, from what it did and met, oldest first. A person's message begins
 * anew: whatever was before it counts no more.
 */

/** The newest steps that are compared. Handoffs and iterations, which lie far apart, are compared beyond it. */
export const WINDOW = 20;
export const SAME_RESULTS = 4;
export const SAME_FAILURES_NUDGE = 3;
export const SAME_FAILURES_STOP = 4;
export const MONOLOGUE_MESSAGES = 3;
export const MONOLOGUE_SIMILARITY = 0.95;
export const ALTERNATING_ACTIONS = 6;
export const EMPTY_CONDENSATIONS = 3;
/** A→B→A→B→A→B: the first hands over three times. */
export const PING_PONG_HANDOFFS = 5;
/** How many iterations after the first left the state as it was: told at one, stopped at this many. */
export const UNCHANGED_ITERATIONS = 2;

export type StuckPattern =
  | "same_result"
  | "same_failure"
  | "monologue"
  | "alternating"
  | "condensation_loop"
  | "handoff_ping_pong"
  | "unchanged_loop";

export type AgentStep =
  /** `call_id` only pairs an action with its observation; without it, the oldest open action is the one observed. */
  | {
      kind: "action";
      agent: string;
      tool_name: string;
      args: JsonObject;
      thought?: string;
      call_id?: string;
    }
  /** `status`: as in ToolOutput. */
  | { kind: "observation"; agent: string; status: number; text: string; call_id?: string }
  | { kind: "message"; agent: string; text: string }
  | { kind: "human"; text?: string }
  | { kind: "condensation" }
  | { kind: "handoff"; agent: string; to: string }
  /** A loop of the graph begins its next round. */
  | { kind: "iteration"; node_id: string; state_hash: string }
  /** The agent was told that it is stuck. */
  | { kind: "nudge"; pattern: StuckPattern };

export interface Stuck {
  pattern: StuckPattern;
  /** For the agent, as a nudge, and for people. */
  message: string;
  severity: "nudge" | "stop";
}

/**
 * Whether the newest steps show a stuck agent, and how: "nudge" the first time in a streak, "stop" where it goes on
 * after its nudge. Record every nudge as a step. `nudges: false`: there is no telling, the first time already stops.
 */
export function findStuck(steps: readonly AgentStep[], options: { nudges?: boolean } = {}): Stuck | null {
  const { done, nudged } = sinceHuman(steps);
  const nudges = options.nudges ?? true;
  const from = Math.max(0, done.length - WINDOW);
  const turns = turnsOf(done.slice(from), from);
  for (const find of [
    () => sameFailure(turns, nudges),
    () => sameResult(turns),
    () => alternating(turns),
    () => monologue(done.slice(from), from),
    () => condensationLoop(done.slice(from), from),
    () => pingPong(done),
    () => unchangedLoop(done, nudges),
  ]) {
    const streak = find();
    if (!streak) continue;
    const { pattern, message } = streak;
    const nudgedAt = nudged.get(pattern) ?? 0;
    const wasNudged = nudgedAt > streak.from;
    // Told, and nothing has happened since.
    if (wasNudged && nudgedAt >= done.length) continue;
    return { pattern, message, severity: !nudges || streak.isOver || wasNudged ? "stop" : "nudge" };
  }
  return null;
}

/** How alike two texts are, from 0 to 1. */
export function similarity(a: string, b: string): number {
  // Sørensen-Dice over pairs of neighbouring characters: twice what both have, over what either has. Linear in time.
  const [x, y] = [normalised(a), normalised(b)];
  if (x === y) return 1;
  if (x.length < 2 || y.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < x.length; i++) {
    const pair = x.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let i = 0; i + 1 < y.length; i++) {
    const pair = y.slice(i, i + 2);
    const left = pairs.get(pair) ?? 0;
    if (left === 0) continue;
    pairs.set(pair, left - 1);
    shared++;
  }
  return (2 * shared) / (x.length + y.length - 2);
}

const normalised = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();

type Done = Exclude<AgentStep, { kind: "human" | "nudge" }>;
type Action = Extract<AgentStep, { kind: "action" }>;
type Observation = Extract<AgentStep, { kind: "observation" }>;

interface Streak {
  pattern: StuckPattern;
  message: string;
  /** The place of its first step. */
  from: number;
  /** So long that no nudge is due any more. */
  isOver?: boolean;
}

/** The steps since the last person's message, and how many of them lay before the last nudge of each pattern. */
function sinceHuman(steps: readonly AgentStep[]) {
  const done: Done[] = [];
  const nudged = new Map<StuckPattern, number>();
  for (const step of steps.slice(steps.findLastIndex(({ kind }) => kind === "human") + 1)) {
    if (step.kind === "nudge") nudged.set(step.pattern, done.length);
    else if (step.kind !== "human") done.push(step);
  }
  return { done, nudged };
}

/** An action with what came of it. */
interface CallRound {
  at: number;
  action: Action;
  observation: Observation;
  /** Without ids: equal calls have equal words. */
  call: string;
  callWithThought: string;
  result: string;
}

function turnsOf(steps: readonly Done[], from: number): CallRound[] {
  const open: { at: number; action: Action }[] = [];
  const turns: CallRound[] = [];
  for (const [position, step] of steps.entries()) {
    if (step.kind === "action") open.push({ at: from + position, action: step });
    if (step.kind !== "observation") continue;
    const place =
      step.call_id === undefined ? 0 : open.findIndex(({ action }) => action.call_id === step.call_id);
    const asked = place < 0 ? undefined : open.splice(place, 1)[0];
    if (!asked) continue;
    const call = canonicalJson([asked.action.agent, asked.action.tool_name, asked.action.args]);
    turns.push({
      ...asked,
      observation: step,
      call,
      callWithThought: `${call} ${(asked.action.thought ?? "").trim()}`,
      result: `${step.status} ${step.text}`,
    });
  }
  return turns;
}

/** The newest items for which the predicate holds without a break. */
function trailing<T extends object>(items: readonly T[], holds: (item: T, at: number) => boolean): T[] {
  let start = items.length;
  while (start > 0 && holds(must(items, start - 1), start - 1)) start--;
  return items.slice(start);
}

function sameResult(turns: readonly CallRound[]): Streak | null {
  const last = turns.at(-1);
  const streak = trailing(
    turns,
    (turn) => turn.callWithThought === last?.callWithThought && turn.result === last.result,
  );
  if (!last || streak.length < SAME_RESULTS) return null;
  return {
    pattern: "same_result",
    from: must(streak, 0).at,
    message: `You've called ${last.action.tool_name} with the same arguments ${streak.length} times in a row and gotten the same result. Use that result, or try something else.`,
  };
}

function sameFailure(turns: readonly CallRound[], nudges: boolean): Streak | null {
  const last = turns.at(-1);
  const streak = trailing(turns, (turn) => turn.call === last?.call && turn.observation.status !== 200);
  if (!last || streak.length < (nudges ? SAME_FAILURES_NUDGE : SAME_FAILURES_STOP)) return null;
  const same = streak.every(({ result }) => result === last.result) ? "gotten the same error" : "failed";
  return {
    pattern: "same_failure",
    from: must(streak, 0).at,
    isOver: streak.length >= SAME_FAILURES_STOP,
    message: `You've called ${last.action.tool_name} with the same arguments ${streak.length} times in a row and ${same} each time. Change the arguments or the approach.`,
  };
}

function alternating(turns: readonly CallRound[]): Streak | null {
  const [b, a] = [turns.at(-1), turns.at(-2)];
  if (!a || !b || a.call === b.call) return null;
  const streak = trailing(turns, (turn, at) => {
    const expected = (turns.length - at) % 2 === 1 ? b : a;
    return turn.callWithThought === expected.callWithThought && turn.result === expected.result;
  });
  if (streak.length < ALTERNATING_ACTIONS) return null;
  const [first, second] = [a.action.tool_name, b.action.tool_name];
  const what =
    first === second ? `two calls of ${first}` : `${first} and ${second} with the same arguments and results`;
  return {
    pattern: "alternating",
    from: must(streak, 0).at,
    message: `You've gone back and forth between ${what} for ${streak.length} calls. Nothing new came of it: take another way.`,
  };
}

function monologue(steps: readonly Done[], from: number): Streak | null {
  const last = steps.at(-1);
  if (last?.kind !== "message") return null;
  const streak = trailing(
    steps,
    (step) => step.kind === "message" && similarity(step.text, last.text) >= MONOLOGUE_SIMILARITY,
  );
  if (streak.length < MONOLOGUE_MESSAGES) return null;
  return {
    pattern: "monologue",
    from: from + steps.length - streak.length,
    message: `You've written nearly the same message ${streak.length} times in a row. Use a tool, give your final answer, or say what is missing.`,
  };
}

function condensationLoop(steps: readonly Done[], from: number): Streak | null {
  const streak = trailing(steps, ({ kind }) => kind === "condensation");
  if (streak.length < EMPTY_CONDENSATIONS) return null;
  return {
    pattern: "condensation_loop",
    from: from + steps.length - streak.length,
    message: `The conversation was shortened ${streak.length} times with nothing done in between: it does not fit into the model's context.`,
  };
}

/** Two agents hand over to each other, and no call in between brings a result that was not there before. */
function pingPong(steps: readonly Done[]): Streak | null {
  const last = steps.at(-1);
  if (last?.kind !== "handoff") return null;
  const turns = turnsOf(steps, 0);
  const known = new Set<string>();
  const newFacts = new Set<Observation>();
  for (const turn of turns) {
    const fact = `${turn.call} ${turn.result}`;
    if (!known.has(fact) && turn.observation.status === 200) newFacts.add(turn.observation);
    known.add(fact);
  }
  let expected = { agent: last.agent, to: last.to };
  let handoffs = 0;
  let start = steps.length;
  for (let at = steps.length - 1; at >= 0; at--) {
    const step = must(steps, at);
    if (step.kind === "observation" && newFacts.has(step)) break;
    if (step.kind !== "handoff") continue;
    if (step.agent !== expected.agent || step.to !== expected.to) break;
    expected = { agent: expected.to, to: expected.agent };
    handoffs++;
    start = at;
  }
  if (handoffs < PING_PONG_HANDOFFS) return null;
  return {
    pattern: "handoff_ping_pong",
    from: start,
    message: `${last.agent} and ${last.to} have handed the work to each other ${handoffs} times without any new result. Do it yourself, hand it to someone else, or finish with what there is.`,
  };
}

function unchangedLoop(steps: readonly Done[], nudges: boolean): Streak | null {
  const last = steps.at(-1);
  if (last?.kind !== "iteration") return null;
  const rounds = steps.flatMap((step, at) =>
    step.kind === "iteration" && step.node_id === last.node_id ? [{ at, hash: step.state_hash }] : [],
  );
  const streak = trailing(rounds, ({ hash }) => hash === last.state_hash);
  const unchanged = streak.length - 1;
  if (unchanged < (nudges ? 1 : UNCHANGED_ITERATIONS)) return null;
  return {
    pattern: "unchanged_loop",
    from: must(streak, 0).at,
    isOver: unchanged >= UNCHANGED_ITERATIONS,
    message: `The loop at "${last.node_id}" ran ${unchanged === 1 ? "once" : `${unchanged} times`} without changing the state.`,
  };
}
