import { diffWordsWithSpace } from "diff";

/** A piece of a text compared to another: in both, only in the earlier, or only in the later. */
export interface WordPiece {
  kind: "same" | "removed" | "added";
  text: string;
}

/**
 * With more edits than this, the diff is one replacement of the whole text: counted, not timed, so that it is the same
 * everywhere.
 */
const MOST_EDITS = 1_500;
/** Longer texts are not compared word by word. */
const MOST_CHARS = 200_000;

/** What words of one text are other in another. Together, the pieces that are not added give `before`, those not removed `after`. */
export function wordDifference(before: string, after: string): WordPiece[] {
  if (before === after) return before === "" ? [] : [{ kind: "same", text: before }];
  const parts =
    before.length + after.length > MOST_CHARS
      ? undefined
      : diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  if (!parts) {
    const whole: WordPiece[] = [
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ];
    return whole.filter(({ text }) => text !== "");
  }
  return inPhrases(
    parts.map(({ added, removed, value }) => ({
      kind: added ? "added" : removed ? "removed" : "same",
      text: value,
    })),
  );
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
