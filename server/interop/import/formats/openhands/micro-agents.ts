import path from "node:path";
import { defined } from "@/server/domain/base/defined";
import { isText, textsOf } from "@/server/domain/base/guards";
import { cleanCopy, type Findings, isRaw, type Raw, withoutNulls } from "@/server/domain/base/lenient-reader";
import type { JsonSchema } from "@/server/domain/base/values";
import { FRONT_MATTER } from "../../../role-folder";
import { parseText } from "../../../text-files";
import type { Claim, ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import type { Source } from "../../source";
import { rawsOf, textOf } from "../../values";

/** Whether a text is a micro agent in Markdown: from its folder with a head, or with what only their heads say. */
export function isMicroAgent({ path, text }: Pick<Source, "path" | "text">): boolean {
  if (!/\.md$/i.test(path)) return false;
  const head = /^\uFEFF?---[ \t]*\r?\n/.test(text) ? FRONT_MATTER.exec(text)?.[1] : undefined;
  if (/(^|\/)microagents\//.test(path)) return head !== undefined || path.endsWith("/repo.md");
  return head !== undefined && /^(triggers:|agent: *CodeActAgent|type: *(knowledge|repo|task))/m.test(head);
}

const isAgentFile = ({ value }: Source): boolean => {
  if (!isRaw(value) || value.nodes !== undefined) return false;
  const { name, description, inputs, outputs } = value;
  return (
    typeof name === "string" &&
    typeof description === "string" &&
    [inputs, outputs].every((one) => isRaw(one) || one === null)
  );
};

const promptOf = ({ folder }: Source, all: readonly Source[]): Source | undefined =>
  all.find((source) => source.path === `${folder}prompt.md`);

/**
 * Micro agents of OpenHands, each a role: `agent.yaml` with `prompt.md`, and Markdown with a head. All of an import come
 * in together.
 */
export const microAgents: ReadableFormat = {
  id: "openhands-micro-agents",
  label: "OpenHands micro agents",
  recognise(sources): Claim[] {
    const agents = sources.filter((source) => isAgentFile(source) || isMicroAgent(source));
    const prompts = agents.filter(isAgentFile).flatMap((source) => promptOf(source, sources) ?? []);
    const isSure = prompts.length > 0 || agents.some((source) => !isAgentFile(source));
    const files = [...new Set([...agents, ...prompts])];
    return files.length > 0 ? [{ sure: isSure ? 2 : 1, files }] : [];
  },
  read({ claim, findings }) {
    const registry = new RoleRegistry();
    for (const source of claim.files) {
      if (isAgentFile(source) && isRaw(source.value)) {
        const report = source.on(findings);
        const prompt = promptOf(source, claim.files);
        if (!prompt)
          report.dropped(
            "",
            "There is no prompt.md next to this file. Import the whole folder, or a zip of it.",
          );
        addAgent(registry, {
          raw: source.value,
          report,
          prompt: prompt?.text ?? "",
          inPrompt: inText(prompt ?? source, findings),
        });
      } else if (isMicroAgent(source)) addMarkdown(registry, source, findings);
    }
    return registry.imported("Micro agents");
  },
};

function addMarkdown(registry: RoleRegistry, source: Source, findings: Findings): void {
  const [, head = "", body = source.text] = FRONT_MATTER.exec(source.text) ?? [];
  const lines = head.split("\n");
  // The head begins in the second line of the file.
  const lineOf = (at: string) => lines.findIndex((line) => line.startsWith(`${at.split(".")[0]}:`)) + 2;
  const report = findings.of((at) => ({ file: source.path, line: at === "" ? 1 : lineOf(at) }));
  const parsed = head.trim() ? parseText(head) : { value: {} };
  const copy = "value" in parsed ? cleanCopy(parsed.value, report) : null;
  if (!copy || !isRaw(copy.value)) {
    report.dropped(
      "",
      "error" in parsed ? parsed.error : "The front matter must consist of keys and values.",
    );
    return;
  }
  addAgent(registry, {
    raw: { name: path.basename(source.path, ".md"), ...withoutNulls(copy.value) },
    report,
    prompt: body,
    inPrompt: inText(source, findings),
  });
}

interface MicroAgent {
  raw: Raw;
  report: Findings;
  prompt: string;
  /** Findings at the line of a piece of the prompt. */
  inPrompt: (piece: string) => Findings;
}

function addAgent(registry: RoleRegistry, { raw, report, prompt, inPrompt }: MicroAgent): void {
  const { name, description, inputs, outputs, generates, triggers, type, version, agent, ...rest } = raw;
  const keywords = textsOf(triggers);
  const { text, actions, left } = plainPrompt(prompt, new Set(namedFields(inputs).map(([input]) => input)));
  const role = registry.add({
    name: textOf(name) || "Micro agent",
    description: [textOf(description), keywords.length > 0 ? `Knows about: ${keywords.join(", ")}.` : ""]
      .filter(Boolean)
      .join(" "),
    prompt: text,
    more: defined({
      input_schema: schemaOf(inputs, "inputs", report),
      output_schema: schemaOf(outputs, "outputs", report),
    }),
  });
  report.keeps("name", `Imported the micro agent as the role "${role}".`);
  if (keywords.length > 0)
    report.changed(
      "triggers",
      "Words in a message added this text to the prompt. Here they are in the role's description, by which tasks find it.",
    );
  if (generates !== undefined)
    report.changed(
      "generates",
      "The answer was an action; here the role calls the tools that you select for it.",
    );
  for (const [key, value] of Object.entries(rest))
    if (value !== null) report.dropped(key, `"${key}" has no equivalent and was left out.`);
  registry.wants(role, actions, "", inPrompt("instructions.actions"));
  const [first] = left;
  if (first !== undefined)
    inPrompt(first).dropped(
      "",
      `Template code was left out of the prompt of "${role}": ${left.slice(0, 3).join(", ").slice(0, 300)}${left.length > 3 ? ` and ${left.length - 3} more` : ""}.`,
    );
}

/** Inputs or outputs by name, or as a list of objects with a name. */
const namedFields = (fields: unknown): [name: string, field: unknown][] =>
  isRaw(fields)
    ? Object.entries(fields)
    : rawsOf(fields).flatMap((field) => (isText(field.name) ? [[field.name, field]] : []));

const TYPES: ReadonlySet<unknown> = new Set(["string", "boolean", "number", "integer", "object", "array"]);

/** The input or output schema of an agent; undefined if it has none. */
function schemaOf(fields: unknown, at: string, report: Findings): JsonSchema | undefined {
  const properties = namedFields(fields).map(([name, field]): [string, JsonSchema] => {
    const { type, description, validation }: Raw = isRaw(field) ? field : { type: field };
    const isKnown = TYPES.has(type);
    if (!isKnown && type !== undefined)
      report.changed(`${at}.${name}`, `The type of "${name}" isn't known; any value fits.`);
    if (validation !== undefined)
      report.dropped(`${at}.${name}.validation`, `The validation of "${name}" was left out.`);
    return [
      name,
      defined({ type: isKnown ? textOf(type) : undefined, description: textOf(description) || undefined }),
    ];
  });
  return properties.length === 0
    ? undefined
    : {
        type: "object",
        properties: Object.fromEntries(properties),
        required: properties.map(([name]) => name),
      };
}

/** What a prompt tells of actions, by the tools that do them; how an agent ends is part of Troupe. */
const ACTIONS: Readonly<Record<string, string>> = {
  run: "bash",
  read: "read",
  write: "write",
  browse: "fetch",
};

/**
 * A prompt without its template code: inputs are named in brackets, actions become tools, loops over the history fall
 * away. `left`: what was left out.
 */
function plainPrompt(
  prompt: string,
  inputs: ReadonlySet<string>,
): { text: string; actions: string[]; left: string[] } {
  const actions = new Set<string>();
  const left: string[] = [];
  let depth = 0;
  const text = prompt.split(/(\{\{[^{}]{0,400}\}\}|\{%[^{}]{0,400}%\})/).map((piece, at) => {
    const isCode = at % 2 === 1;
    const [, word = ""] = /^\{% {0,9}(\w+)/.exec(piece) ?? [];
    const isOutside = depth === 0;
    if (isCode && /^(for|if)$/.test(word)) depth++;
    if (isCode && /^end(for|if)$/.test(word)) depth = Math.max(0, depth - 1);
    if (!isOutside) return "";
    if (!isCode) return piece;
    const [, input = ""] = /^\{\{ {0,9}(?:state\.inputs\.)?(\w{1,100}) {0,9}\}\}$/.exec(piece) ?? [];
    if (inputs.has(input)) return `[${input}]`;
    const [, action = ""] = /^\{\{ {0,9}instructions\.actions\.(\w{1,40})/.exec(piece) ?? [];
    const tool = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (tool !== undefined) actions.add(tool);
    else left.push(piece);
    return "";
  });
  return {
    text: text
      .join("")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
    actions: [...actions],
    left,
  };
}

const inText = (source: Source, findings: Findings) => (piece: string) => {
  const at = source.text.indexOf(piece);
  const line = source.text.slice(0, Math.max(0, at)).split("\n").length;
  return findings.of(() => ({ file: source.path, line }));
};
