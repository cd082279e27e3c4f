import { keysOf } from "@/server/domain/base/guards";
import type { EventType, RunEvent, RunEventOf } from "@/server/domain/run/events";
import { agentSentences } from "./agent-sentences";
import { crewSentences } from "./crew-sentences";
import { nodeSentences } from "./node-sentences";
import { runSentences } from "./run-sentences";
import { detail, type Names, type Sentence } from "./sentence-words";

/** The compiler asks for a sentence of each event type. */
const sentences: { [T in EventType]: (event: RunEventOf<T>, names: Names) => Sentence } = {
  ...runSentences,
  ...nodeSentences,
  ...agentSentences,
  ...crewSentences,
};

/** What happened, in a sentence for people. */
export function sentenceOf(event: RunEvent, names: Names): Sentence {
  const say = sentences[event.type] as ((event: RunEvent, names: Names) => Sentence) | undefined;
  // An event of a newer server than this page: shown by its name rather than not at all.
  return say ? say(event, names) : detail((event as { type: string }).type.replaceAll("_", " "));
}

/** Every event type that has a sentence. */
export const eventTypes = keysOf(sentences);
