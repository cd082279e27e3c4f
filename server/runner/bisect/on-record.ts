import type { Settled } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { type Begun, BrokenOff, NothingLeft, type Served, VirtualRun } from "../durable/virtual-run";
import type { Effects } from "../node/ports";
import { ANSWER, askedOf, type Execute, type RetracedAnswer } from "../replay/retrace";

/** What a run waits for, as its record is asked for it. */
export interface Wanted {
  key: string;
  kind: RetracedAnswer["kind"];
  asked: Json;
}

/** What the record has: an answer and how long it took, null for one that never came, or why there is none. */
export type FoundOnRecord = { result: Settled; ms: number; turn: number } | null | { missing: string };

/** The result of a run on recorded answers alone. `unknown`: why it can't be determined. */
export type RunOnRecord =
  | { state: RunState; events: readonly RunEvent[]; unknown?: undefined }
  | { unknown: string };

/** A recording has no answer, so the rest of the run is unknown. */
class NotKnown extends BrokenOff {
  override name = "NotKnown";
}

/** What runs code and tries patterns in replays; it reaches nothing outside. */
export type Code = Pick<NonNullable<Effects["tools"]>, "runCode" | "matches">;

/** Whether a step looks up the tools that there are. */
export const isLookUp = (key: string) => key.endsWith("/tools");

/** Carries a run out with what `answer` finds alone, as long as each answer took then. */
export async function executeOnRecord(
  created: RunEventOf<"run_created">,
  about: { runId: string; begunAt: number; execute: Execute },
  answer: (wanted: Wanted) => FoundOnRecord,
  code: Code | undefined,
): Promise<RunOnRecord> {
  const context: VirtualRun = new VirtualRun(about.runId, about.begunAt, {
    first: "by_time",
    serve: (begun) => servedOf(begun, answer, (id) => questionOf(context, id)),
  });
  const states: RunState[] = [];
  try {
    await about.execute(
      context,
      structuredClone(created),
      effectsOf(code),
      (state) => void states.push(state),
    );
  } catch (error) {
    if (error instanceof NotKnown) return { unknown: error.message };
    if (!(error instanceof NothingLeft)) throw error;
  }
  const [state] = states;
  if (state?.run.status === "finished") return { state, events: context.events };
  return { unknown: "It waits for something that neither run received." };
}

function effectsOf(code: Code | undefined): Effects {
  const none = () => Promise.reject(new NotKnown("It calls an external service."));
  const models: Effects["models"] = { complete: none, describe: () => null };
  if (!code) return { models };
  return {
    models,
    tools: { ...code, specs: none, invoke: none, forgetTask: () => Promise.resolve() },
  };
}

const questionOf = ({ events }: VirtualRun, id: string) =>
  events.findLast((event) => event.type === "interaction_requested" && event.payload.interaction_id === id);

function servedOf(
  { key, kind, request, ms = 0 }: Begun,
  answer: (wanted: Wanted) => FoundOnRecord,
  question: (id: string) => Parameters<typeof askedOf>[0],
): Served | undefined {
  if (kind === "signal") {
    // Commands of people other than answers are not repeated.
    if (!key.startsWith(ANSWER)) return undefined;
    return known(answer({ key, kind: "person", asked: askedOf(question(key.slice(ANSWER.length))) }));
  }
  if (request) return known(answer({ key, kind: request.kind, asked: request.asked() }));
  if (kind === "step" && isLookUp(key)) return known(answer({ key, kind: "step", asked: null }));
  const found = answer(
    kind === "step" ? { key, kind: "step", asked: null } : { key, kind: "time", asked: ms },
  );
  // As long as it took then: a timer is never early, and often a little late.
  const took = found && "ms" in found ? { took_ms: found.ms, order: found.turn } : { took_ms: ms, order: 0 };
  return kind === "step" ? took : { ...took, result: { ok: true, value: null } };
}

function known(found: FoundOnRecord): Served {
  if (found === null) return { result: null, order: 0 };
  if ("missing" in found) throw new NotKnown(found.missing);
  return { result: found.result, took_ms: found.ms, order: found.turn };
}
