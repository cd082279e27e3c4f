import { z } from "zod";
import type { Message } from "../prompt";

const Source = z.object({ title: z.string(), url: z.url(), text: z.string() });
export type Source = z.infer<typeof Source>;

/** What searches of the conversation found, the newest search's first. */
export function sourcesIn(messages: readonly Message[]): Source[] {
  return messages.toReversed().flatMap(({ role, content }) => {
    const found = role === "tool" ? /^web_search \(200\): (\{[\s\S]*)$/.exec(content)?.[1] : undefined;
    if (found === undefined) return [];
    try {
      const { results } = z.object({ results: z.array(z.unknown()) }).parse(JSON.parse(found));
      return results.flatMap((result) => Source.safeParse(result).data ?? []);
    } catch {
      // Cut, or another tool of that name.
      return [];
    }
  });
}
