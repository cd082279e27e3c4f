import { must } from "@/server/domain/base/must";
import type { SearchPurpose } from "@/server/domain/tool/search-backend";

interface Entry {
  title: string;
  url: string;
  text: string;
}

/** Added to everything that the demo finds. */
export const DEMO_NOTE = "Simulated: the offline demo made these pages up; they are not on the web.";

// Domains under .example are reserved: whoever opens one sees that it came from the demo.
const HOST = "demo.example";

const CORPUS: Readonly<Record<SearchPurpose, readonly Entry[]>> = {
  web: [
    entry(
      "Bees in cities and in the countryside",
      "bees-in-cities",
      "Gardens, parks and balconies let something flower in a city from spring to autumn, while fields around a village often flower all at once and then not at all. Cities also spare bees many sprays. What they lack is open soil, in which most wild bees nest.",
      "Whether bees do better in a city depends on the kind. Bumblebees and honeybees often find more food there; specialists that need one plant, and kinds that nest in the ground, do better where meadows and field edges were kept.",
      "Read with care: most counts are of honeybees, which people keep and feed.",
    ),
    entry(
      "Too many hives? When honeybees compete with wild bees",
      "honeybees-and-wild-bees",
      "Where hives stand close together in a city, honeybees and wild bees search the same flowers. Planting more helps both; adding hives alone does not help bees.",
      "Cities that want to help bees are advised to begin with flowering strips, bare patches of soil and dead wood, and to count hives before allowing more.",
    ),
    entry(
      "Why pollinators matter to people in towns",
      "pollinators-in-towns",
      "Fruit trees, allotments and wild plants of a city set fruit and seed because bees and other insects visit them. Birds live on those seeds and insects in turn.",
      "Green roofs, unmown verges and native shrubs are the measures that are named most often; they also cool streets and hold rain.",
    ),
    entry(
      "Street trees: why cities are planting more, and what trees need",
      "street-trees",
      "On a hot afternoon, pavement in the shade of a tree can be 10 to 25 °C cooler than pavement in the sun. Leaves and open soil take up rain that would otherwise rush into the drains. The first two to three years decide: a young tree needs watering, and many die because nobody is responsible for it. Roots compete with pipes and cables, and a tree in a small pit stays small.",
    ),
    entry(
      "Repair cafés: how to start one",
      "repair-cafe",
      "A repair café is an afternoon at which volunteers help visitors repair lamps, clothes, bicycles and small machines. It needs a room with power, tools, a few people who can repair, and rules on liability. Libraries are common hosts: they have rooms, opening hours and visitors. Organisers name three worries: enough volunteers, safety of repaired electrical things, and where spare parts come from.",
    ),
    entry(
      "A first vegetable garden at home",
      "home-gardening",
      "Beginners do best with a small bed, good soil, and plants that forgive: radishes, lettuce, beans, courgettes and herbs. Sun for half a day and steady watering matter more than equipment. A calendar of sowing dates for the own region saves most disappointments; the most frequent mistake is to sow too much, too early.",
    ),
    entry(
      "Planning a workshop of one day",
      "one-day-workshop",
      "A workshop of one day has room for three learning goals. Plan the practical part first, then the shortest introduction that it needs, breaks every ninety minutes, and a closing round.",
      "Checklists name the room, materials for everybody, a plan for bad weather, and a sheet to take home.",
    ),
    entry(
      "Opening libraries on Sundays: what towns report",
      "libraries-on-sundays",
      "Towns that opened libraries on Sundays report other visitors than during the week: families and people who work. Costs are mostly for staff; some use volunteers or opening without staff.",
      "A trial of a few months with counted visits is the usual way to decide.",
    ),
    entry(
      "Agents and workflows: when to use which",
      "agents-and-workflows",
      "A workflow follows steps that were laid down beforehand; an agent chooses its steps. Start with the simplest thing that works, and add agents where the path cannot be known in advance.",
    ),
    entry(
      "How teams review code",
      "code-review",
      "Small changes are reviewed faster and better. A review looks at correctness, tests, names and security, and says what must change and what may.",
    ),
    entry(
      "Renewable energy: what limits it now",
      "renewable-energy",
      "Solar and wind power have become the cheapest new sources of electricity in many markets; storage and grids are what limits them now.",
    ),
    entry(
      "Writing a market analysis",
      "market-analysis",
      "A market analysis names the customers, the size and growth of the market, competitors and prices, the risks, and where each figure comes from.",
    ),
    entry(
      "Customer support: handing over between teams",
      "support-handover",
      "A good handover says who the customer is, what was tried, and what is expected next. Refunds above a limit need a person's approval.",
    ),
    entry(
      "Charged twice: how refunds of double payments work",
      "double-charges",
      "A double charge is often a reservation that expires on its own. If both payments were booked, the second is paid back the way it came; customers are asked for the invoice number and both dates.",
    ),
    entry(
      "Planning a software release",
      "release-plan",
      "A release plan lists tasks with owners and dependencies, a test phase, a way back, and who decides about going live.",
    ),
    entry(
      "Making decisions in groups",
      "group-decisions",
      "Blind first votes keep a group from following the loudest voice. A quorum and a rule for ties belong to the vote before it begins.",
    ),
    entry(
      "Reading research papers quickly",
      "reading-papers",
      "Read title, abstract, figures and conclusion first; then the method, with the question what would have to be true for the result to be wrong.",
    ),
  ],
  code: [
    entry(
      "demo/retry: src/retry.ts",
      "retry/src/retry.ts",
      "export async function retry<T>(action: () => Promise<T>, attempts = 3): Promise<T> {\n  // waits longer after each error\n}",
    ),
    entry(
      "demo/queue: src/queue.ts",
      "queue/src/queue.ts",
      "export class Queue<T> {\n  push(item: T): void {}\n  async next(signal: AbortSignal): Promise<T> {}\n}",
    ),
    entry(
      "demo/csv: src/parse-csv.ts",
      "csv/src/parse-csv.ts",
      "export function parseCsv(text: string): string[][] {\n  // quoted fields may hold commas and line breaks\n}",
    ),
    entry(
      "demo/search: src/binary-search.ts",
      "search/src/binary-search.ts",
      "export function binarySearch(sorted: number[], wanted: number): number {\n  // the place where wanted is, or would be inserted\n}",
    ),
    entry(
      "demo/cache: src/lru-cache.ts",
      "cache/src/lru-cache.ts",
      "export class LruCache<K, V> {\n  // the entry not used for longest goes first\n}",
    ),
    entry(
      "demo/words: src/palindrome.ts",
      "words/src/palindrome.ts",
      "export function isPalindrome(text: string): boolean {\n  // letters and digits only, upper and lower case alike\n}",
    ),
    entry(
      "demo/words: src/anagram.ts",
      "words/src/anagram.ts",
      "export function areAnagrams(a: string, b: string): boolean {\n  // counts the letters of both words\n}",
    ),
  ],
};

function entry(title: string, path: string, ...paragraphs: string[]): Entry {
  return { title, url: `https://${HOST}/${path}`, text: paragraphs.join("\n\n") };
}

/** What such a page is about, for topics that nothing was written for: it tells its kind and states no facts. */
const KINDS: Readonly<Record<string, (topic: string) => { title: string; text: string }>> = {
  overview: (topic) => ({
    title: `${capital(topic)}: an overview`,
    text: `An introduction to “${topic}” for readers who are new to it: what is meant by it, whom it concerns, how it came about, and which words help when searching on.`,
  }),
  studies: (topic) => ({
    title: `What studies say about ${topic}`,
    text: `A survey of the research on “${topic}”: what has been measured, where results agree, where they do not, and how far they can be carried over to other places.`,
  }),
  practice: (topic) => ({
    title: `${capital(topic)} in practice: reports of people who tried`,
    text: `People who have to do with “${topic}” tell how they began, what took longer than planned, what it cost them, and what they would do differently.`,
  }),
  objections: (topic) => ({
    title: `Objections: what speaks against common views on ${topic}`,
    text: `The other side of “${topic}”: arguments that are often left out, who brings them forward, and what would have to be known to settle the matter.`,
  }),
  figures: (topic) => ({
    title: `${capital(topic)} in figures, and where they come from`,
    text: `Which figures on “${topic}” are collected, by whom, how often, and what each of them leaves out. The figures themselves are not part of this demo.`,
  }),
};

/** Pages of the demo on the query: those whose words match it, the best first, and then some made up for it. */
export function searchDemo(purpose: SearchPurpose, query: string, count: number): Entry[] {
  const wanted = stemsOf(query);
  const shared = (text: string) => [...stemsOf(text)].filter((word) => wanted.has(word)).length;
  const least = purpose === "web" ? 3 : 1;
  const known = CORPUS[purpose]
    .map((page) => ({ page, score: 2 * shared(page.title) + shared(page.text) }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score)
    .map(({ page }) => ({ ...page, text: must(page.text.split("\n\n"), 0) }));
  const made = purpose === "web" ? Object.keys(KINDS).map((kind) => madeUp(kind, slugOf(query))) : [];
  return [...known, ...made].slice(0, count);
}

/** A page of the demo by its address, whole; null for pages of others, undefined where the demo has none there. */
export function demoPage(url: string): { title: string; text: string } | null | undefined {
  if (!URL.canParse(url)) return null;
  const { hostname, pathname: path } = new URL(url);
  if (hostname !== HOST) return null;
  const known = Object.values(CORPUS)
    .flat()
    .find((page) => new URL(page.url).pathname === path);
  if (known) return known;
  const [, kind = "", slug = ""] = /^\/([a-z]{1,20})\/([^/]{1,400})$/.exec(path) ?? [];
  return Object.hasOwn(KINDS, kind) ? madeUp(kind, slugOf(decoded(slug))) : undefined;
}

const madeUp = (kind: string, slug: string): Entry => ({
  ...must(KINDS, kind)(slug.replaceAll("-", " ")),
  url: `https://${HOST}/${kind}/${slug}`,
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The topic of a query as part of an address. */
function slugOf(query: string): string {
  const terms = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const significant = terms.filter((word) => !COMMON.has(word));
  return (significant.length > 0 ? significant : terms).slice(0, 8).join("-") || "anything";
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const COMMON = new Set(
  "a about an and any are as at be better best by can could do does find for from give good have how i in into is it known learn look me more most of on or our please question research search should tell than that the their there they this to us was what when where whether which who why will with would you your".split(
    " ",
  ),
);

/** Prefixes of words, so that "review" finds "reviews" and "reviewed". */
const stemsOf = (text: string) =>
  new Set(
    (text.toLowerCase().match(/\p{L}{4,}/gu) ?? [])
      .filter((word) => !COMMON.has(word))
      .map((word) => word.replace(/(?:ies|y)$/, "i").slice(0, 6)),
  );
