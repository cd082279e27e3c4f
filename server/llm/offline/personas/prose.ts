import { must } from "@/server/domain/base/must";
import { isEmptyValue, type Prompt, sinceTask } from "../prompt";
import { isCrewTool } from "./crew-tools";
import { earlierReview, isReviewKey, roundOf } from "./decide";
import { sourcesIn } from "./sources";

export type Persona =
  | "approver"
  | "reviewer"
  | "planner"
  | "researcher"
  | "analyst"
  | "editor"
  | "writer"
  | "developer"
  | "tester"
  | "messenger"
  | "support"
  | "interpreter"
  | "echo"
  | "worker";

const BY_NAME: readonly [Persona, RegExp][] = [
  ["echo", /^echo$/i],
  ["approver", /approv|authori[sz]|gatekeeper/i],
  ["worker", /\baction|execut|operator/i],
  ["reviewer", /review|critic|proofread|quality|\bqa\b/i],
  ["interpreter", /interpreter|statistic/i],
  ["planner", /plan|lead$|coordinat|orchestrat|project manager|architect/i],
  ["analyst", /analy|strateg|risk/i],
  ["researcher", /research|investigat|scout|expert|collect/i],
  ["tester", /test/i],
  ["developer", /develop|coder|coding|program|engineer/i],
  ["support", /support|billing|help ?desk|customer/i],
  ["messenger", /notif|messenger|communicat|announce/i],
  ["editor", /editor/i],
  ["writer", /writ|author|copy|summar|report|document|journal/i],
];
const BY_TASK: readonly [Persona, RegExp][] = [
  ["approver", /\bfor approval\b|^\s*(?:please )?(?:approve|decide (?:whether|if|on))\b/i],
  ["reviewer", /^\s*(?:please )?(?:review|check|critici)/i],
  ["planner", /^\s*(?:please )?(?:make|write|draw up) an? (?:\w+ )?plan\b/i],
  ["messenger", /\b(?:notify|inform|tell|announce)\b/i],
  ["analyst", /\b(?:analy[sz]e|weigh|compare|risks?)\b/i],
  ["researcher", /\b(?:research|find out|look up|collect|gather)\b/i],
  ["developer", /\b(?:implement|code|function|program)\b/i],
  ["writer", /\b(?:write|draft|summari[sz]e|compose|rewrite)\b/i],
];

/** What kind of worker the role is: its name counts first, then what it is asked to do. */
export function personaOf(prompt: Prompt): Persona {
  const find = (rules: readonly [Persona, RegExp][], text: string) =>
    rules.find(([, pattern]) => pattern.test(text))?.[0];
  return find(BY_NAME, prompt.role) ?? find(BY_TASK, prompt.task) ?? "worker";
}

/** What kind of worker a role is by its name alone. */
export const personaByName = (role: string): Persona | undefined =>
  BY_NAME.find(([, pattern]) => pattern.test(role))?.[0];

/** A short text such as this kind of worker would hand in. An echo is no text of this model's own. */
export function proseOf(prompt: Prompt, persona: Persona, vary: (n: number) => number): string {
  if (persona === "echo") return prompt.task;
  return [...bodyOf(prompt, persona, vary), ...foundBy(prompt)].join("\n");
}

/** The result of the last tool, unless the text already quotes it. */
function foundBy({ messages }: Prompt): string[] {
  const turns = sinceTask(messages);
  const result = turns.findLast(
    ({ role, content }) => role === "tool" && !isCrewTool(/^\w+/.exec(content)?.[0] ?? ""),
  );
  return result && sourcesIn(turns).length === 0 ? [`The tool answered: ${quote(result.content, 200)}`] : [];
}

function bodyOf(prompt: Prompt, persona: Persona, vary: (n: number) => number): string[] {
  const { topic } = prompt;
  const title = topic.charAt(0).toUpperCase() + topic.slice(1);
  const review = earlierReview(prompt);
  const revision =
    review === null ? null : `Revision ${roundOf(prompt)}, after the review: ${quote(review, 100)}`;
  const handedOver = materialsOf(prompt).map(({ key, text }) => `From ${key}: ${quote(text, 120)}`);
  const oneOf = (...choices: string[]) => must(choices, vary(choices.length));
  switch (persona) {
    case "researcher": {
      const sources = sourcesIn(sinceTask(prompt.messages));
      if (sources.length > 0)
        return [
          `Findings: ${title}`,
          ...sources
            .slice(0, 5)
            .map((source, at) => `${at + 1}. ${firstSentence(source.text)} (${source.title}, ${source.url})`),
          "These pages were found by a search; what they say was not checked.",
          ...handedOver,
        ];
      return [
        `Findings: ${title}`,
        `1. Background: what “${topic}” covers, and whom it concerns.`,
        `2. Key point: ${oneOf("purpose, cost and effort have to be weighed", "two views exist, and both have good reasons", "the basics are settled, the details are not")}.`,
        "3. Open question: which fact would change the picture?",
        ...handedOver,
      ];
    }
    case "analyst":
      return [
        `Analysis: ${title}`,
        `1. Likeliest risk: ${oneOf("too few people take part", "it takes longer than planned", "it costs more than planned")}. Reduce it by starting small.`,
        "2. Greatest risk: nobody feels responsible. Reduce it by naming one person.",
        "3. Smallest risk: the first version is not perfect. Accept it.",
        ...handedOver,
      ];
    case "writer":
      return [
        `Draft: ${title}`,
        ...(revision ? [revision] : []),
        `Opening: what “${topic}” is about, and why it matters now.`,
        ...(handedOver.length > 0 ? handedOver : ["Middle: three points, each with an example."]),
        `Close: ${oneOf("what to do next, and who does it.", "what follows from this for the reader.", "one sentence to remember.")}`,
      ];
    case "editor":
      return [
        title,
        ...(revision ? [revision] : []),
        `Summary: “${topic}”, shorter and clearer than before.`,
        ...handedOver,
        `Recommendation: ${oneOf("Try it once, on a small scale.", "Go ahead, and look at it again in a month.", "Ask two people who know it before going on.")}`,
      ];
    case "developer":
      if (/^\s*design\b/i.test(prompt.task))
        return [
          `Design: ${title}`,
          `Key point: ${must(prompt.task.split("\n"), 0).replace(/(?<![.\s])[.\s]+$/, "")}, in parts that can be tested alone.`,
          ...handedOver,
        ];
      return codeOf(prompt, review);
    case "tester":
      return [
        `Test report: ${title}`,
        "1. To try: the usual input",
        "2. To try: an empty input",
        "3. To try: a very long input",
      ];
    case "support":
      return [
        `Reply: ${title}`,
        `Thank you for writing. We understood: “${topic}”.`,
        ...handedOver,
        "Next step: answer with the date and the number of your case, and a person looks into it.",
      ];
    case "messenger":
      return [`Message: ${title}`, "Hello,", `this is about “${topic}”.`, ...handedOver, "Kind regards"];
    case "interpreter":
      return [`Computed: ${title}`, ...figures(prompt.data), ...handedOver];
    case "planner":
      if (/^\s*bring\b.*\btogether\b/i.test(prompt.task))
        return [
          `Together: ${title}`,
          ...handedOver,
          "The parts stand side by side; how they fit has to be decided.",
        ];
      return [`Plan: ${title}`, "1. Collect what is known.", "2. Work it out.", "3. Check the result."];
    default:
      return [`Done: ${title}`, ...handedOver];
  }
}

const firstSentence = (text: string) => /^[^.\n]{1,200}\.?/.exec(text.trim())?.[0] ?? "";

/** The plain statistics of the numbers in a text. */
function figures(text: string): string[] {
  const numbers = (text.match(/(?<![\w.])-?\d{1,20}(?:\.\d{1,20})?(?![\w.]{0,40}\d)/g) ?? []).map(Number);
  if (numbers.length === 0) return ["There are no numbers in what was given."];
  const sum = numbers.reduce((total, number) => total + number, 0);
  const rounded = (number: number) => String(Math.round(number * 100) / 100);
  return [
    `1. ${numbers.length} numbers: ${numbers.slice(0, 12).join(", ")}${numbers.length > 12 ? " …" : ""}`,
    `2. Key point: sum ${rounded(sum)}, mean ${rounded(sum / numbers.length)}, least ${Math.min(...numbers)}, greatest ${Math.max(...numbers)}.`,
  ];
}

const NO_NAMES = new Set([
  "the",
  "and",
  "for",
  "that",
  "this",
  "with",
  "whether",
  "which",
  "function",
  "please",
  "write",
  "code",
  "implement",
  "program",
]);

function codeOf(prompt: Prompt, review: string | null): string[] {
  const { topic } = prompt;
  const revision = roundOf(prompt);
  const part = /^\s*build the (\w+)/i.exec(prompt.task)?.[1] ?? "";
  const terms = (`${part} ${topic}`.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    .filter((word) => word.length > 2 && !NO_NAMES.has(word))
    .slice(0, 3);
  const name = terms
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("")
    .replace(/^\d+/, "");
  return [
    "```js",
    `// Revision ${revision}: ${topic}`,
    ...(review === null ? [] : [`// After the review: ${quote(review, 100)}`]),
    `export function ${name || "solve"}(input) {`,
    '  if (input === undefined) throw new Error("Give an input");',
    ...(revision > 1
      ? ["  if (input.length === 0) return []; // the example that the review asked for"]
      : []),
    "  return [...input].map((part) => part);",
    "}",
    "```",
  ];
}

/** What was handed over beside the matter itself, at most three pieces. */
function materialsOf(prompt: Prompt): { key: string; text: string }[] {
  const matter = prompt.topic.replace(/…$/, "");
  return Object.entries(prompt.inputs)
    .filter(([key, value]) => !isEmptyValue(value) && !isReviewKey(key))
    .filter(([, value]) => !value.includes(matter) || value.length > matter.length + 40)
    .slice(0, 3)
    .map(([key, text]) => ({ key, text }));
}

/** The gist of a text on one line, shortened, without this model's own headings. */
export function quote(text: string, most: number): string {
  const lines = plainLines(text);
  const gist =
    lines.find((line) => /^(?:key point|likeliest risk|next step|export function)\b/i.test(line)) ??
    lines[lines.length > 2 ? 1 : 0] ??
    "";
  const flat = gist.replace(/\s+/g, " ").replace(/[“”]/g, "'").trim();
  return `“${flat.length <= most ? flat : `${flat.slice(0, most - 1).replace(/(?<!\s)\s+\S*$/, "")}…`}”`;
}

function plainLines(text: string): string[] {
  return listed(text)
    .split("\n")
    .map((line) =>
      line
        .trim()
        .replace(/^(?:\d+[.)]|[-*#>]+|\/\/)\s+/, "")
        .replace(/^Round \d+: changes requested\.\s*/, ""),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !/^(?:From \w+:|```)/.test(line));
}

/** A list that came as JSON, one entry a line. */
function listed(text: string): string {
  if (!text.trimStart().startsWith("[")) return text;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((item) => typeof item === "string").join("\n") : text;
  } catch {
    return text;
  }
}
