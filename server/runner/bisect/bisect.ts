import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { BisectReport, BisectTry, RunDifference } from "@/server/domain/run/bisect/report";
import type { RunEventOf } from "@/server/domain/run/events";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { differenceFrom } from "../replay/difference";
import { type Both, both, type Difference } from "./differences";
import { findingOf } from "./expected";
import { type Code, executeOnRecord, type FoundOnRecord, type Wanted } from "./on-record";
import type { Recording } from "./recording";

/** With more differences than these, the place is searched by halves instead of one by one. */
const MOST_ONE_BY_ONE = 40;

/**
 * Finds which differences between a bad and a good run make an expectation fail. Each replay takes the first n
 * differences from the good run and the rest from the bad one; a recorded answer is used only for an identical request,
 * from the run chosen by that difference if both have it, else from the one that does. No call is made: if neither run
 * has the request, the continuation is unknown.
 */
export async function bisect(
  good: Recording,
  bad: Recording,
  expectation: RuleExpectation,
  code?: Code,
): Promise<BisectReport> {
  const runs = both(good, bad);
  const tries: BisectTry[] = [];
  const attempt = async (from_good: number): Promise<BisectTry["outcome"]> => {
    const known = tries.find((one) => one.from_good === from_good);
    if (known) return known.outcome;
    // Others have their turn between two replays.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const made = await replay(runs, from_good, expectation, code);
    tries.push(made);
    return made.outcome;
  };
  const all = runs.differences.length;
  const toReport = (found: Omit<BisectReport, "differences" | "tries">): BisectReport => ({
    ...found,
    differences: runs.differences.map(({ fields: _f, place: _p, ...difference }) => difference),
    tries,
  });
  const asBad = await attempt(0);
  if (asBad !== "fails") return toReport(notReproduced("bad", tries[0]));
  if (all === 0) return toReport(NOTHING_OTHER);
  const asGood = await attempt(all);
  if (asGood !== "holds") return toReport(notReproduced("good", tries[1]));
  const [fails, holds] = all <= MOST_ONE_BY_ONE ? await walk(all, attempt) : await halve(all, attempt);
  return toReport(verdictOf(runs.differences, fails, holds));
}

type Attempt = (from_good: number) => Promise<BisectTry["outcome"]>;

/** The first number of differences from the good run with which it holds, and the last before it with which it fails. */
async function walk(all: number, attempt: Attempt): Promise<[fails: number, holds: number]> {
  let fails = 0;
  for (let at = 1; at < all; at++) {
    const outcome = await attempt(at);
    if (outcome === "holds") return [fails, at];
    if (outcome === "fails") fails = at;
  }
  return [fails, all];
}

/** The same by bisection: one place where the outcome flips, if there are several. */
async function halve(all: number, attempt: Attempt): Promise<[fails: number, holds: number]> {
  let [fails, holds] = [0, all];
  search: while (holds - fails > 1) {
    const middle = (fails + holds) >> 1;
    // Where the middle cannot be known, what is nearest to it.
    const within = Array.from({ length: holds - fails - 1 }, (_, at) => fails + 1 + at);
    within.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const at of within) {
      const outcome = await attempt(at);
      if (outcome === "unknown") continue;
      if (outcome === "holds") holds = at;
      else fails = at;
      continue search;
    }
    break;
  }
  return [fails, holds];
}

function verdictOf(
  differences: readonly RunDifference[],
  fails: number,
  holds: number,
): Pick<BisectReport, "verdict" | "sentence" | "step" | "between"> {
  const titles = differences.slice(fails, holds).map(({ title }) => title);
  if (holds - fails === 1)
    return {
      verdict: "found",
      step: fails,
      sentence: `${titles[0]} makes the difference: the expectation passes with the good run's value and fails with the bad run's.`,
    };
  return {
    verdict: "undecided",
    between: differences.slice(fails, holds).map((_, at) => fails + at),
    sentence: `Undecided between ${titles.length} differences, from ${titles[0]} to ${titles.at(-1)}. In between, the replays made requests that neither run has an answer for, and no calls are made to get one.`,
  };
}

function notReproduced(
  which: "good" | "bad",
  made: BisectTry | undefined,
): Pick<BisectReport, "verdict" | "sentence"> {
  return {
    verdict: "not_reproduced",
    sentence: `Replayed from its log, the ${which} run had a different result: ${made?.why ?? ""} Timing or the order of parallel work may be the cause.`,
  };
}

const NOTHING_OTHER: Pick<BisectReport, "verdict" | "sentence"> = {
  verdict: "no_difference",
  sentence:
    "Both runs started the same way and received the same answers, so timing or the order of parallel work made the difference.",
};

async function replay(
  runs: Both,
  from_good: number,
  expectation: RuleExpectation,
  code: Code | undefined,
): Promise<BisectTry> {
  const taken = runs.differences.slice(0, from_good);
  const { good, bad } = runs;
  const isGoodTime = taken.some(({ kind }) => kind === "time") || from_good === runs.differences.length;
  const done = await executeOnRecord(
    begun(good, bad, taken),
    { runId: bad.run_id, begunAt: (isGoodTime ? good : bad).begunAt, execute: bad.execute },
    newAnswering(runs, taken),
    code,
  );
  if (done.unknown !== undefined) return { from_good, outcome: "unknown", why: done.unknown };
  const { run } = done.state;
  const ended = run.final_status ? FINAL_STATUS_LABELS[run.final_status] : "Not finished";
  return {
    from_good,
    outcome: findingOf(done.events, expectation, done.state).holds ? "holds" : "fails",
    why: run.error ? `${ended}: ${run.error.message}` : `${ended}.`,
  };
}

/**
 * The bad run's first event, with the fields taken from the good one. Its pause settings come from the run whose
 * recorded commands resume it.
 */
function begun(good: Recording, bad: Recording, taken: readonly Difference[]): RunEventOf<"run_created"> {
  const payload = { ...bad.created.payload };
  const fields = taken.flatMap((one) => one.fields ?? []);
  for (const field of fields) {
    const value = good.created.payload[field];
    if (value === undefined) Reflect.deleteProperty(payload, field);
    else Reflect.set(payload, field, value);
  }
  const { can_hold, ...held } = (fields.includes("repeats") ? good : bad).held;
  return {
    ...bad.created,
    payload: { ...payload, config: { ...payload.config, ...held }, ...defined({ can_hold }) },
  };
}

/** Answers as the runs were answered: of the good one where that is taken, else of the bad one, else of the only one. */
function newAnswering(runs: Both, taken: readonly Difference[]): (wanted: Wanted) => FoundOnRecord {
  const fromGood = new Set(taken.flatMap(({ place }) => (place ? [`${place.asked} ${place.time}`] : [])));
  const times = new Map<string, number>();
  return (wanted) => {
    const asked = runs.hash(wanted);
    const time = times.get(asked) ?? 0;
    times.set(asked, time + 1);
    const [a, b] = [runs.answers.good.get(asked)?.[time], runs.answers.bad.get(asked)?.[time]];
    const answer = fromGood.has(`${asked} ${time}`) ? a : (b ?? a);
    if (!answer) return { missing: missing(runs, wanted) };
    if (answer.result === null) return null;
    const { result, ms, turn } = answer;
    return { result: result.ok ? { ok: true, value: result.value } : result, ms, turn };
  };
}

function missing({ good, bad }: Both, { key, kind, asked }: Wanted): string {
  if (kind === "step" || kind === "time") return `Neither run listed the tools for ${key}.`;
  if (kind === "person") return `Neither run asked a person this question: ${key.slice("answer:".length)}.`;
  const recorded = [...bad.answers, ...good.answers].flatMap((one) =>
    one.kind === "model" || one.kind === "tool" || one.kind === "run"
      ? [{ kind: one.kind, asked: one.asked }]
      : [],
  );
  return differenceFrom({ kind, asked }, recorded).sentence;
}
