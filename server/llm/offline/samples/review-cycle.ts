import type { Sample } from "./define";

const first = `\`\`\`js
const VALUES = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };

/** The number that a Roman numeral stands for. */
export function fromRoman(numeral) {
  return [...numeral].reduce((sum, letter) => sum + VALUES[letter], 0);
}
\`\`\``;

const second = `\`\`\`js
const VALUES = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };
const VALID = /^M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})$/;

/** The number that a Roman numeral stands for, from 1 to 3999. Throws a RangeError for anything else. */
export function fromRoman(numeral) {
  const letters = numeral.toUpperCase();
  if (letters === "" || !VALID.test(letters)) throw new RangeError(\`Not a Roman numeral: \${numeral}\`);
  return [...letters].reduce((sum, letter, at) => {
    const value = VALUES[letter];
    // A smaller letter before a larger one is subtracted: IV is 4.
    return value < (VALUES[letters[at + 1]] ?? 0) ? sum - value : sum + value;
  }, 0);
}
\`\`\``;

export const reviewCycle: Sample = {
  input: { goal: "A function that converts Roman numerals to numbers" },
  answers: [
    {
      role: "Developer",
      phrases: ["Write the code, or revise it as the review asks.", 'from the step "code_review"'],
      gives: {
        outcome: "success",
        summary:
          "Smaller letters before larger ones are subtracted now, and anything that is not a Roman numeral throws a RangeError. Lower case is accepted.",
        result: second,
      },
    },
    {
      role: "Developer",
      phrases: ["Write the code, or revise it as the review asks."],
      gives: {
        outcome: "success",
        summary: "A first version: it adds up the values of the letters.",
        result: first,
      },
    },
    {
      role: "QualityReviewer",
      phrases: ["Review the code:", "RangeError"],
      gives: {
        outcome: "approve",
        summary:
          "IV, IX, XL and CM come out right, and “IIII”, “ABC” and the empty text are refused with a clear message. The comment states the range. Approved.",
      },
    },
    {
      role: "QualityReviewer",
      phrases: ["Review the code:"],
      gives: {
        outcome: "reject",
        summary:
          "Two things must change. 1. IV gives 6 instead of 4: a smaller letter before a larger one has to be subtracted. 2. “ABC” gives NaN and “IIII” gives 4: refuse what is not a Roman numeral.",
      },
    },
    {
      role: "Tester",
      phrases: ["Test the code in the usual case and at its edges."],
      gives: {
        outcome: "pass",
        summary: `All eight cases pass. They were worked out by reading the code, not by running it.

| Input | Expected | By the code |
|---|---|---|
| III | 3 | 3 |
| IV | 4 | 4 |
| MCMXCIV | 1994 | 1994 |
| mmxxvi | 2026 | 2026 |
| MMMCMXCIX | 3999 | 3999 |
| (empty) | RangeError | RangeError |
| IIII | RangeError | RangeError |
| ABC | RangeError | RangeError |`,
      },
    },
  ],
};
