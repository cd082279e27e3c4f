import { earlierReview, roundOf } from "./decide";
import { isEmptyValue, type Prompt } from "./prompt";

/** Ends every text of this model, so that nobody takes it for an AI's. */
export const SUFFIX = "— offline demo text";

export type Persona =
  | "approver"
  | "reviewer"
  | "planner"
  | "researcher"
  | "writer"
  | "developer"
  | "tester"
  | "messenger"
  | "worker";

const BY_NAME: readonly [Persona, RegExp][] = [
  ["approver", /approv|authori[sz]|gatekeeper/i],
  ["reviewer", /review|critic|proofread|quality|\bqa\b/i],
  ["planner", /plan|coordinat|orchestrat|project manager|architect/i],
  ["researcher", /research|analy|investigat|scout|expert|\bcollect/i],
  ["tester", /test/i],
  ["developer", /develop|coder|coding|program|engineer/i],
  ["messenger", /notif|messenger|communicat|support|announce/i],
  ["writer", /writ|author|copy|editor|summar|report|document|journal/i],
];
const BY_TASK: readonly [Persona, RegExp][] = [
  ["approver", /\bapprov/i],
  ["reviewer", /^\s*(?:please )?(?:review|check|critici)/i],
  ["planner", /\bplan\b/i],
  ["messenger", /\b(?:notify|inform|tell|announce)\b/i],
  ["researcher", /\b(?:research|find out|look up|analy[sz]e|collect)\b/i],
  ["developer", /\b(?:implement|code|function|program)\b/i],
  ["writer", /\b(?:write|draft|summari[sz]e|compose|rewrite)\b/i],
];

/** What kind of worker the role is: its name counts first, then what it is asked to do. */
export function personaOf(prompt: Prompt): Persona {
  const find = (rules: readonly [Persona, RegExp][], text: string) =>
    rules.find(([, pattern]) => pattern.test(text))?.[0];
  return find(BY_NAME, prompt.role) ?? find(BY_TASK, prompt.task) ?? "worker";
}

/** A short text such as this kind of worker would hand in. */
export function proseOf(prompt: Prompt, persona: Persona, vary: (n: number) => number): string {
  const body = revisionLine(prompt, persona) + bodyOf(prompt, persona, vary);
  return `${body}\n${received(prompt)}\n${SUFFIX}`;
}

/** One sentence for a field of a form. */
export const lineOf = (text: string) => `${text} ${SUFFIX}`;

/** Names the inputs with their sizes: people see the data flow. */
export function received(prompt: Prompt): string {
  const entries = Object.entries(prompt.inputs);
  if (entries.length === 0) return "Received keys: none";
  return `Received keys: ${entries.map(([key, value]) => `${key} (${value.length} chars)`).join(", ")}`;
}

function revisionLine(prompt: Prompt, persona: Persona): string {
  const review = earlierReview(prompt);
  if (
    review === null ||
    persona === "reviewer" ||
    persona === "messenger" ||
    persona === "worker" ||
    persona === "approver"
  )
    return "";
  return `Revision ${roundOf(prompt)}, after the review: ${quote(review, 90)}\n`;
}

function bodyOf(prompt: Prompt, persona: Persona, vary: (n: number) => number): string {
  const { topic } = prompt;
  const material = materialOf(prompt);
  switch (persona) {
    case "researcher":
      return [
        `Findings on ${topic}`,
        `1. Background: what ${topic} is about, and for whom it matters.`,
        `2. Key point: ${["purpose, cost and risk have to be weighed", "two views exist, and both have good reasons", "the basics are settled, the details are not"][vary(3)]}.`,
        "3. Open question: which fact would change the picture?",
      ].join("\n");
    case "writer":
      return [
        `Draft: ${topic}`,
        `Opening. ${topic} in plain words, in one paragraph.`,
        material
          ? `Middle. Built on what was handed over: ${quote(material, 120)}`
          : `Middle. Three points about ${topic}, each with an example.`,
        `Close. ${["What to do next, and who does it.", "What follows from this for the reader.", "One sentence to remember."][vary(3)]}`,
      ].join("\n");
    case "developer":
      return codeOf(topic, roundOf(prompt));
    case "tester":
      return [
        `Test report: ${topic}`,
        "1. Usual input: passed",
        "2. Empty input: passed",
        "3. Very long input: passed",
      ].join("\n");
    case "messenger":
      return [
        `Message about: ${topic}`,
        ...(material ? [`Note: ${quote(material, 160)}`] : []),
        "Sent to: nobody (this is a demo).",
      ].join("\n");
    case "planner":
      return [
        `Plan for ${topic}`,
        "1. Collect what is known.",
        "2. Work it out.",
        "3. Check the result.",
      ].join("\n");
    default:
      return [
        `Done: ${topic}`,
        ...(material ? [`Taken into account: ${quote(material, 120)}`] : []),
        "Nothing outside this run was touched.",
      ].join("\n");
  }
}

function codeOf(topic: string, revision: number): string {
  const words =
    topic
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.filter((word) => word.length > 2)
      .slice(0, 3) ?? [];
  const name =
    words
      .map((word, at) => (at === 0 ? word : word[0]!.toUpperCase() + word.slice(1)))
      .join("")
      .replace(/^\d+/, "") || "solve";
  return [
    "```js",
    `// Revision ${revision}: ${topic}`,
    `export function ${name}(input) {`,
    '  if (input === undefined) throw new Error("Give an input");',
    ...(revision > 1 ? ["  if (input.length === 0) return []; // asked for in the review"] : []),
    "  return [...input].map((part) => part);",
    "}",
    "```",
  ].join("\n");
}

/** The handed-over text that is not the matter itself. */
function materialOf(prompt: Prompt): string | null {
  const values = Object.values(prompt.inputs).filter((value) => !isEmptyValue(value));
  const own = (value: string) =>
    !value.includes(prompt.topic.replace(/…$/, "")) || value.length > prompt.topic.length + 40;
  return values.filter(own).sort((a, b) => b.length - a.length)[0] ?? null;
}

/** A text on one line, shortened, without this model's own closing lines. */
export function quote(text: string, most: number): string {
  const flat = text
    .replaceAll(SUFFIX, "")
    .replace(/^Received keys:.*$/gm, "")
    .replace(/```\w*/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return `“${flat.length <= most ? flat : `${flat.slice(0, most - 1).replace(/\s+\S*$/, "")}…`}”`;
}
