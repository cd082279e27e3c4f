import { describe, expect, it } from "vitest";
import { agreementOf, isGate, type Labelled, whyNoGate } from "./agreement";

/** So many outputs that the judge and the person call good (yes) or not (no). */
const labelled = (counts: {
  bothYes?: number;
  judgeOnly?: number;
  personOnly?: number;
  bothNo?: number;
}): Labelled[] => {
  const some = (n: number | undefined, score: number, good: boolean) =>
    Array.from({ length: n ?? 0 }, () => ({ score, good }));
  return [
    ...some(counts.bothYes, 0.9, true),
    ...some(counts.judgeOnly, 0.8, false),
    ...some(counts.personOnly, 0.2, true),
    ...some(counts.bothNo, 0.1, false),
  ];
};

describe("the agreement of a judge with a person", () => {
  it("is Cohen's kappa: what goes beyond what chance alone would give", () => {
    // The example of textbooks: 20 and 15 agreed, 5 and 10 not: observed 0.7, by chance 0.5.
    const agreement = agreementOf(labelled({ bothYes: 20, judgeOnly: 5, personOnly: 10, bothNo: 15 }), 0.5);
    expect({ ...agreement, kappa: agreement.kappa?.toFixed(3) }).toEqual({
      labels: 50,
      same: 35,
      kappa: "0.400",
    });
    expect(agreementOf(labelled({ bothYes: 6, bothNo: 6 }), 0.5).kappa).toBe(1);
    expect(agreementOf(labelled({ judgeOnly: 6, personOnly: 6 }), 0.5).kappa).toBe(-1);
  });

  it("depends on the score from which the judge says yes", () => {
    const all = labelled({ bothYes: 5, judgeOnly: 2, bothNo: 5 });
    expect(agreementOf(all, 0.85)).toEqual({ labels: 12, same: 12, kappa: 1 });
    expect(agreementOf(all, 0.85).kappa).toBeGreaterThan(agreementOf(all, 0.5).kappa ?? 1);
  });

  it("is unknown where there is nothing to tell it by", () => {
    expect(agreementOf([], 0.5)).toEqual({ labels: 0, same: 0, kappa: null });
    // Whoever always says yes agrees with whoever always says yes: by chance alone.
    expect(agreementOf(labelled({ bothYes: 12 }), 0.5)).toEqual({ labels: 12, same: 12, kappa: null });
  });

  it("lets a judge decide from enough labels and enough agreement on, and says why it does not", () => {
    const words = (counts: Parameters<typeof labelled>[0], least = 0.6) => {
      const agreement = agreementOf(labelled(counts), 0.5);
      return [isGate(agreement, least), whyNoGate(agreement, least)];
    };
    expect(words({ bothYes: 6, bothNo: 6 })).toEqual([true, ""]);
    expect(words({})).toEqual([false, "Not counted: nobody has said yet which outputs are good."]);
    expect(words({ bothYes: 2, bothNo: 1 })).toEqual([
      false,
      "Not counted: 3 of the 10 labels that it takes to know how far it agrees with you.",
    ]);
    expect(words({ bothYes: 12 })).toEqual([
      false,
      "Not counted: on 12 labels, you and the judge always said the same one thing, which tells nothing. Label some of the other kind.",
    ]);
    expect(words({ bothYes: 6, judgeOnly: 4, bothNo: 2 })).toEqual([
      false,
      "Not counted: agreement 0.33 on 12 labels, at least 0.6 wanted.",
    ]);
    expect(words({ bothYes: 6, judgeOnly: 4, bothNo: 2 }, 0.3)).toEqual([true, ""]);
  });
});
