import type { SearchPurpose } from "@/server/domain/search-backend";

interface Entry {
  title: string;
  url: string;
  text: string;
}

// Addresses under .example belong to nobody: whoever opens one sees that this was the demo.
const CORPUS: Readonly<Record<SearchPurpose, readonly Entry[]>> = {
  web: [
    {
      title: "Agents and workflows: when to use which",
      url: "https://demo.example/agents-and-workflows",
      text: "A workflow follows steps that were laid down beforehand; an agent chooses its steps. Start with the simplest thing that works, and add agents where the path cannot be known in advance.",
    },
    {
      title: "How teams review code",
      url: "https://demo.example/code-review",
      text: "Small changes are reviewed faster and better. A review looks at correctness, tests, names and security, and says what must change and what may.",
    },
    {
      title: "Renewable energy in numbers",
      url: "https://demo.example/renewable-energy",
      text: "Solar and wind power have become the cheapest new sources of electricity in many markets; storage and grids are what limits them now.",
    },
    {
      title: "Writing a market analysis",
      url: "https://demo.example/market-analysis",
      text: "A market analysis names the customers, the size and growth of the market, competitors and prices, the risks, and where each figure comes from.",
    },
    {
      title: "Customer support: handing over between teams",
      url: "https://demo.example/support-handover",
      text: "A good handover says who the customer is, what was tried, and what is expected next. Refunds above a limit need a person's approval.",
    },
    {
      title: "Planning a software release",
      url: "https://demo.example/release-plan",
      text: "A release plan lists tasks with owners and dependencies, a test phase, a way back, and who decides about going live.",
    },
    {
      title: "Making decisions in groups",
      url: "https://demo.example/group-decisions",
      text: "Blind first votes keep a group from following the loudest voice. A quorum and a rule for ties belong to the vote before it begins.",
    },
    {
      title: "Reading research papers quickly",
      url: "https://demo.example/reading-papers",
      text: "Read title, abstract, figures and conclusion first; then the method, with the question what would have to be true for the result to be wrong.",
    },
  ],
  code: [
    {
      title: "demo/retry: src/retry.ts",
      url: "https://demo.example/retry/src/retry.ts",
      text: "export async function retry<T>(action: () => Promise<T>, attempts = 3): Promise<T> {\n  // waits longer after each error\n}",
    },
    {
      title: "demo/queue: src/queue.ts",
      url: "https://demo.example/queue/src/queue.ts",
      text: "export class Queue<T> {\n  push(item: T): void {}\n  async next(signal: AbortSignal): Promise<T> {}\n}",
    },
    {
      title: "demo/csv: src/parse-csv.ts",
      url: "https://demo.example/csv/src/parse-csv.ts",
      text: "export function parseCsv(text: string): string[][] {\n  // quoted fields may hold commas and line breaks\n}",
    },
    {
      title: "demo/search: src/binary-search.ts",
      url: "https://demo.example/search/src/binary-search.ts",
      text: "export function binarySearch(sorted: number[], wanted: number): number {\n  // the place where wanted is, or would be inserted\n}",
    },
    {
      title: "demo/cache: src/lru-cache.ts",
      url: "https://demo.example/cache/src/lru-cache.ts",
      text: "export class LruCache<K, V> {\n  // the entry not used for longest goes first\n}",
    },
  ],
};

/** The bundled texts that share most words with the query, the best first; some even where nothing matches. */
export function searchDemo(purpose: SearchPurpose, query: string, count: number): Entry[] {
  const wanted = wordsOf(query);
  const sharedWith = ({ title, text }: Entry) =>
    [...wordsOf(`${title} ${text}`)].filter((word) => wanted.has(word)).length;
  const ranked = CORPUS[purpose]
    .map((entry) => ({ entry, shared: sharedWith(entry) }))
    .sort((a, b) => b.shared - a.shared);
  const matching = ranked.filter(({ shared }) => shared > 0);
  return (matching.length > 0 ? matching : ranked.slice(0, 3)).slice(0, count).map(({ entry }) => entry);
}

/** The beginnings of words, so that "review" finds "reviews" and "reviewed". */
const wordsOf = (text: string) =>
  new Set((text.toLowerCase().match(/\p{L}{4,}/gu) ?? []).map((word) => word.slice(0, 6)));
