import { diffWordsWithSpace } from "diff";

/** A piece of a text compared to another: in both, only in the earlier, or only in the later. */
export interface WordPiece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** With more edits than this, the diff of a text is one replacement of all of it. */
const MOST_EDITS = 300;
/** Of all texts of an answer: the work grows with the square of the edits. Counted, not timed, so that it is the same everywhere. */
const MOST_STEPS = 200_000;
/** Of all texts of an answer that are compared word by word. */
const MOST_CHARS = 200_000;

/** What words of one text are other in another. Together, the pieces that are not added give `before`, those not removed `after`. */
export const wordDifference = (before: string, after: string): WordPiece[] =>
  newWordDifference()(before, after);

/** Compares texts that share a budget; what is beyond it is one replacement. */
export function newWordDifference(): typeof wordDifference {
  let steps = MOST_STEPS;
  let chars = MOST_CHARS;
  const partsOf = (before: string, after: string) => {
    const length = before.length + after.length;
    const maxEditLength = Math.min(MOST_EDITS, Math.floor(Math.sqrt(steps)));
    if (before === "" || after === "" || length > chars || maxEditLength === 0) return undefined;
    const parts = diffWordsWithSpace(before, after, { maxEditLength });
    const edits = parts?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
    steps -= (edits ?? maxEditLength) ** 2;
    chars -= length;
    return parts;
  };
  return (before, after) => {
    if (before === after) return before === "" ? [] : [{ kind: "same", text: before }];
    const parts = partsOf(before, after);
    const pieces: WordPiece[] = parts
      ? parts.map(({ added, removed, value }) => ({
          kind: added ? "added" : removed ? "removed" : "same",
          text: value,
        }))
      : [
          { kind: "removed", text: before },
          { kind: "added", text: after },
        ];
    return inPhrases(pieces);
  };
}

/** Consecutive replaced words become one replaced phrase: only spaces are between them. */
function inPhrases(pieces: readonly WordPiece[]): WordPiece[] {
  const phrases: WordPiece[] = [];
  let phrase = { removed: "", added: "" };
  const end = () => {
    if (phrase.removed) phrases.push({ kind: "removed", text: phrase.removed });
    if (phrase.added) phrases.push({ kind: "added", text: phrase.added });
    phrase = { removed: "", added: "" };
  };
  for (const [at, { kind, text }] of pieces.entries()) {
    const next = pieces[at + 1];
    const isReplaced = phrase.removed !== "" && phrase.added !== "";
    if (kind !== "same") phrase[kind] += text;
    else if (isReplaced && /^ +$/.test(text) && next !== undefined) {
      phrase.removed += text;
      phrase.added += text;
    } else {
      end();
      phrases.push({ kind, text });
    }
  }
  end();
  return phrases;
}
