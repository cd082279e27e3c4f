import { entriesOf } from "@/server/domain/base/guards";
import type { EventType, RunEvent, RunEventOf } from "@/server/domain/run/events";
import { agentSentences } from "./agent-sentences";
import { crewSentences } from "./crew-sentences";
import { nodeSentences } from "./node-sentences";
import { runSentences } from "./run-sentences";
import { detail, type Names, type Sentence } from "./sentence-parts";

/** The compiler asks for a sentence of each event type. */
const sentences: { [T in EventType]: (event: RunEventOf<T>, names: Names) => Sentence } = {
  ...runSentences,
  ...nodeSentences,
  ...agentSentences,
  ...crewSentences,
};

const byType = new Map<string, (event: never, names: Names) => Sentence>(entriesOf(sentences));

/** What happened, in a sentence for people. */
export function sentenceOf(event: RunEvent, names: Names): Sentence {
  const format = byType.get(event.type);
  // An event of a newer server than this page: shown by its name rather than not at all.
  if (!format) return detail(event.type.replaceAll("_", " "));
  // The table has a sentence for each type's own event; the compiler cannot follow the pair.
  return format(event as never, names);
}
