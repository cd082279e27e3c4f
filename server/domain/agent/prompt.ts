import type { Json, JsonSchema } from "@/server/domain/base/values";
import { renderTemplate } from "@/server/domain/text/template";
import type { RoleDefinition } from "./role";

/** Longer values are cut in prompts, with a notice; characters. */
const LONGEST_VALUE = 8000;

/**
 * The system prompt of an agent: its role's own template, or the standard one. The order is kept stable for
 * providers that cache prompts.
 */
export function rolePrompt(
  role: RoleDefinition,
  more: { backstory?: string; team?: string; now?: number } = {},
): string {
  if (role.system_prompt_template?.trim()) {
    const input = {
      // Under `role` as lists, by themselves as lines: both are what people write first.
      role: {
        name: role.name,
        description: role.description,
        goals: role.goals,
        responsibilities: role.responsibilities,
      },
      goals: bullets(role.goals),
      responsibilities: bullets(role.responsibilities),
      backstory: more.backstory ?? "",
      team: more.team ?? "",
    };
    return [
      renderTemplate(role.system_prompt_template, { state: {}, input, now: more.now }),
      ...(more.team ? [more.team] : []),
    ].join("\n\n");
  }
  const list = (title: string, items: readonly string[]) =>
    items.length > 0 ? `${title}:\n${bullets(items)}` : "";
  return [
    `You are ${role.name}. ${role.description}`.trim(),
    more.backstory ?? "",
    list("Goals", role.goals),
    list("Responsibilities", role.responsibilities),
    more.team ?? "",
    "Work only with the information given. If something essential is missing, say exactly what.",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const bullets = (items: readonly string[]) => items.map((item) => `- ${item}`).join("\n");

/** The message that gives an agent its task. */
export function taskPrompt(about: {
  task: string;
  expected_output?: string;
  inputs: Readonly<Record<string, Json>>;
  earlier?: Readonly<Record<string, Json>>;
  /** The shape of the answer; absent for one plain text. */
  schema?: JsonSchema;
  output_keys: readonly string[];
}): string {
  const values = (record: Readonly<Record<string, Json>>) =>
    Object.entries(record).map(([key, value]) => `${key}: ${cut(asText(value))}`);
  const inputs = values(about.inputs);
  const earlier = values(about.earlier ?? {});
  return [
    `Task: ${about.task}`,
    about.expected_output ? `Expected output: ${about.expected_output}` : "",
    inputs.length > 0 ? `Inputs:\n${inputs.join("\n")}` : "",
    earlier.length > 0 ? `Results of earlier tasks:\n${earlier.join("\n")}` : "",
    about.schema
      ? `Return one JSON object with exactly these keys: ${digest(about.schema)}.`
      : about.output_keys[0]
        ? `Return the value of "${about.output_keys[0]}".`
        : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function digest(schema: JsonSchema): string {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  return Object.entries(properties)
    .map(([key, property]) => {
      const choices = Array.isArray(property.enum)
        ? `one of ${property.enum.map((value) => JSON.stringify(value)).join(", ")}`
        : typeof property.type === "string"
          ? property.type
          : "any";
      return `"${key}" (${choices})`;
    })
    .join(", ");
}

const asText = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
const cut = (text: string) =>
  text.length <= LONGEST_VALUE
    ? text
    : `${text.slice(0, LONGEST_VALUE)} [… ${text.length - LONGEST_VALUE} characters left out]`;
