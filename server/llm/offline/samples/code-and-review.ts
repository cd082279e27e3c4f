import type { Sample } from "./define";

export const codeAndReview: Sample = {
  input: { feature_request: "A function that checks whether a text is a palindrome" },
  answers: [
    {
      role: "Developer",
      phrases: ["Write the code for this request:", "give false: ignore case"],
      gives: `\`\`\`js
import assert from "node:assert";

/** Whether a text reads the same in both directions. Case, spaces, punctuation and accents do not count. */
export function isPalindrome(text) {
  const signs = [...text.normalize("NFD").toLowerCase()].filter((sign) => /[\\p{L}\\p{N}]/u.test(sign));
  return signs.every((sign, at) => sign === signs[signs.length - 1 - at]);
}

assert(isPalindrome("level"));
assert(isPalindrome("Never odd or even"));
assert(isPalindrome("Ésope reste ici et se repose"));
assert(isPalindrome(""));
assert(!isPalindrome("palindrome"));
\`\`\`

Changes: only letters and digits are compared, in lower case and without accents. The tests now cover a sentence, accents and the empty text, which counts as a palindrome.`,
    },
    {
      role: "Developer",
      phrases: ["Write the code for this request:", "There is none yet."],
      gives: `\`\`\`js
import assert from "node:assert";

/** Whether a text reads the same in both directions. */
export function isPalindrome(text) {
  return text === [...text].reverse().join("");
}

assert(isPalindrome("level"));
assert(!isPalindrome("palindrome"));
\`\`\`

The text is spread into characters before it is reversed, so that emoji stay whole.`,
    },
    {
      role: "QualityReviewer",
      phrases: ["Review this code against the request.", "normalize("],
      gives: {
        verdict: "approve",
        issues: [],
        summary:
          "Both points are fixed: sentences and accents are handled, and the tests cover them and the empty text. The comment states what counts, so callers know what to expect.",
      },
    },
    {
      role: "QualityReviewer",
      phrases: ["Review this code against the request."],
      gives: {
        verdict: "revise",
        issues: [
          "“Never odd or even” and “Level” give false: ignore case, spaces, punctuation and accents.",
          "Add tests for a sentence, for accents and for the empty text, and say in the comment what counts.",
        ],
        summary:
          "The idea is right and the code is short, but it only recognizes single words in lower case. The request speaks of a text.",
      },
    },
  ],
};
