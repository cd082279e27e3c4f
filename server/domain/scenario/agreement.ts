/** With fewer outputs that a person has labelled, nobody knows how far a judge agrees with them. */
export const FEWEST_LABELS = 10;

/** What a judge says of an output, and what a person says of it. */
export interface Labelled {
  /** From 0 to 1. */
  score: number;
  good: boolean;
}

/** How far a judge agrees with a person. */
export interface Agreement {
  /** How many outputs the person has labelled. */
  labels: number;
  /** On how many of them both say the same. */
  same: number;
  /** Cohen's kappa; null where nothing is labelled, or where both always said the one same thing, which tells nothing. */
  kappa: number | null;
}

/** The agreement of a judge that says yes from that score on. */
export function agreementOf(labelled: readonly Labelled[], threshold: number): Agreement {
  const labels = labelled.length;
  const count = (fits: (one: { judge: boolean; person: boolean }) => boolean) =>
    labelled.filter(({ score, good }) => fits({ judge: score >= threshold, person: good })).length;
  const same = count(({ judge, person }) => judge === person);
  if (labels === 0) return { labels, same, kappa: null };
  const judged = count(({ judge }) => judge) / labels;
  const said = count(({ person }) => person) / labels;
  const byChance = judged * said + (1 - judged) * (1 - said);
  return { labels, same, kappa: byChance === 1 ? null : (same / labels - byChance) / (1 - byChance) };
}

/** Whether a judge decides, by its agreement, rather than being a note. */
export const isGate = ({ labels, kappa }: Agreement, least: number): boolean =>
  labels >= FEWEST_LABELS && kappa !== null && kappa >= least;

/** Why a judge does not decide, as the end of a sentence; empty where it does. */
export function whyNoGate(agreement: Agreement, least: number): string {
  const { labels, kappa } = agreement;
  if (isGate(agreement, least)) return "";
  if (labels === 0) return "Not counted: nobody has said yet which outputs are good.";
  const on = `on ${labels} ${labels === 1 ? "label" : "labels"}`;
  if (labels < FEWEST_LABELS)
    return `Not counted: ${labels} of the ${FEWEST_LABELS} labels that it takes to know how far it agrees with you.`;
  return kappa === null
    ? `Not counted: ${on}, you and the judge always said the same one thing, which tells nothing. Label some of the other kind.`
    : `Not counted: agreement ${kappa.toFixed(2)} ${on}, at least ${least} wanted.`;
}
