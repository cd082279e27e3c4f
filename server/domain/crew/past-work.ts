/** How pieces of work came out. `sent_back`: of those that were done, what a person did not take. */
export interface PastCounts {
  done: number;
  failed: number;
  sent_back: number;
}

/** What a member of a crew did in earlier runs. Absent counts: nothing yet. */
export interface PastWork {
  /** The node of the crew. */
  node_id: string;
  agent_id: string;
  role_name: string;
  /** As this agent of this crew: of the same crew of the library, or of the same node of the workflow. */
  own?: PastCounts;
  /** As anybody of its role, in whatever workflow. */
  role?: PastCounts;
}

/** A crew member's data for choosing who does an unassigned task. */
export interface Standing {
  agent_id: string;
  /** How many words of the task its role has. */
  fits: number;
  /** How much of its work of this run came to nothing. */
  failed: number;
  /** How many tasks it is working on, and how many it was given. */
  at_work: number;
  given: number;
  /** How many tokens a task took it in this run, on average; undefined if it did none. */
  tokens?: number | undefined;
  past?: PastWork | undefined;
}

/** With less work than this, one bad luck would decide: it counts as no past. */
export const ENOUGH_WORK = 5;

const sizeOf = ({ done, failed }: PastCounts) => done + failed;
const lostOf = ({ failed, sent_back }: PastCounts) => failed + sent_back;

/** By what a member is judged: its own past, else that of its role; undefined where both are too short. */
const judgedBy = (past: PastWork | undefined): PastCounts | undefined =>
  [past?.own, past?.role].find((counts) => counts && sizeOf(counts) >= ENOUGH_WORK);

/** The share of a member's work that came to nothing. */
function lostShare({ past }: Standing): number | undefined {
  const counts = judgedBy(past);
  return counts && lostOf(counts) / sizeOf(counts);
}

/** Facts about each member; one without facts counts like the others. */
function withUsual(known: readonly (number | undefined)[]): number[] {
  const values = known.filter((value) => value !== undefined);
  const usual = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return known.map((value) => value ?? usual);
}

/**
 * Chooses who does an unassigned task: the member whose role fits best; among equals, the one with fewer failures in
 * this run, less lost work in earlier runs, less to do, fewer tokens per task in this run, then the first. `why` completes a sentence if there was a
 * choice. Undefined if no role fits.
 */
export function whoIsChosen(members: readonly Standing[]): { agent_id: string; why?: string } | undefined {
  const fitting = members.filter(({ fits }) => fits > 0);
  const shares = withUsual(fitting.map(lostShare));
  const tokens = withUsual(fitting.map((one) => one.tokens));
  const [best, next] = fitting
    .map((one, at) => ({
      one,
      // Whoever is lower in the first that differs comes first.
      ranks: [-one.fits, one.failed, shares[at] ?? 0, one.at_work, tokens[at] ?? 0, one.given, at],
    }))
    .sort((a, b) => compared(a.ranks, b.ranks));
  if (!best) return undefined;
  const { agent_id } = best.one;
  if (!next) return members.length > 1 ? { agent_id, why: FITS } : { agent_id };
  const decided = best.ranks.findIndex((rank, at) => rank !== next.ranks[at]);
  if (decided === 0) return { agent_id, why: FITS };
  const because = [
    "",
    "failed less often in this run",
    `in earlier runs ${pastBeside(best.one, next.one)}`,
    "is less busy",
    "used fewer tokens per task in this run",
    "was given fewer tasks",
    "comes first in the crew",
  ][decided];
  return { agent_id, why: `it matches as well as ${next.one.agent_id}, and ${because}` };
}

const FITS = "its role matches the task best";

function compared(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((rank, place) => rank !== b[place]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function pastBeside(best: Standing, next: Standing): string {
  const ratio = (counts: PastCounts | undefined) =>
    counts ? `${lostOf(counts)} of ${sizeOf(counts)}` : "the average";
  return `less of its work failed or was sent back: ${ratio(judgedBy(best.past))} compared to ${ratio(judgedBy(next.past))}`;
}

const formatCounts = ({ done, failed, sent_back }: PastCounts) =>
  `${done} done, ${failed} failed, ${sent_back} sent back`;

/** What a member did in earlier runs, in one line. */
export function describePastWork({ agent_id, role_name, own, role }: PastWork): string {
  if (own) return `${agent_id}: ${formatCounts(own)}`;
  const all = role ? `; all of the role ${role_name}: ${formatCounts(role)}` : "";
  return `${agent_id}: no work yet${all}`;
}
