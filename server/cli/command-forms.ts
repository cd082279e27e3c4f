import { z } from "zod";
import { isObject } from "@/server/domain/base/guards";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { operations } from "@/server/operations";
import type { CommandForm, Operation } from "@/server/operations/operation";
import { parseOptions, UsageError } from "./arguments";
import type { ServerOptions } from "./server-ask";

/** An operation as a terminal command. */
export interface TerminalCommand {
  operation: Operation;
  form: CommandForm;
  /** The first word. */
  name: string;
  parameters: readonly Parameter[];
  options: Readonly<Record<string, CommandOption>>;
}

interface CommandOption {
  type: "string" | "boolean";
  multiple?: boolean;
  /** One text is a list, with commas between its items. */
  isList?: boolean;
  isRequired?: boolean;
}

interface Parameter {
  text: string;
  isLiteral: boolean;
  isOptional: boolean;
  /** Takes the rest of the line. */
  isRest: boolean;
}

/** The commands of a group of operations. */
export const commandsOf = (group: Readonly<Record<string, Operation>>): TerminalCommand[] =>
  Object.values(group).flatMap((operation) =>
    (operation.cli ?? []).map((form) => ({ operation, form, ...readForm(form.form) })),
  );

/** Every command that a server performs. */
export const COMMANDS = Object.values(operations).flatMap((group) => commandsOf(group));

export const commandsNamed = (name: string | undefined): TerminalCommand[] =>
  COMMANDS.filter((command) => command.name === name);

/** Reads "skip RUN NODE [OUTPUT] [--set KEY=VALUE]...": capitals are values, brackets are optional, dots take several. */
function readForm(form: string): Pick<TerminalCommand, "name" | "parameters" | "options"> {
  const [name = "", ...tokens] = form.match(/\[[^\][]*\](?:\.\.\.)?|--[a-z_]+ \S+|\S+/g) ?? [];
  const parameters: Parameter[] = [];
  const options: Record<string, CommandOption> = {};
  for (const token of tokens) {
    const isRest = token.endsWith("...");
    const [text = "", placeholder] = token
      .replace(/\.\.\.$/, "")
      .replace(/^\[|\]$/g, "")
      .split(" ");
    if (text.startsWith("--"))
      options[text.slice(2)] = placeholder
        ? {
            type: "string",
            multiple: isRest,
            isList: placeholder.includes(","),
            isRequired: !token.startsWith("["),
          }
        : { type: "boolean" };
    else
      parameters.push({
        text,
        isLiteral: text === text.toLowerCase(),
        isOptional: token.startsWith("["),
        isRest,
      });
  }
  return { name, parameters, options };
}

/** Reads a command line by the forms of its first word. Throws UsageError. */
export function readArguments([name, ...rest]: readonly string[]):
  | ({ command: TerminalCommand; input: JsonObject; json: boolean } & ServerOptions)
  | null {
  const forms = commandsNamed(name);
  const known = Object.assign({}, ...forms.map(({ options }) => options)) as TerminalCommand["options"];
  const { values, positionals } = parseOptions(rest, { ...known, ...SERVER_OPTIONS });
  const { help, url, "token-env": tokenEnv, json = false, ...given } = values;
  if (help) return null;
  const command = forms.find(({ parameters }) => isFor(parameters, positionals)) ?? forms[0];
  if (!command) throw new UsageError(`Unknown command "${name ?? ""}".`);
  for (const option of Object.keys(given))
    if (!(option in command.options)) throw new UsageError(`${name} has no option --${option}.`);
  for (const [option, { isRequired }] of Object.entries(command.options))
    if (isRequired && !(option in given)) throw new UsageError(`Missing option --${option}.`);
  const parameters = readPositionals(
    command.parameters,
    positionals,
    usageOf(forms.map(({ form }) => form.form)),
  );
  const input = inputOf(command, [...parameters, ...optionsIn(command, given)]);
  return { command, input, url, tokenEnv, json };
}

const SERVER_OPTIONS = {
  url: { type: "string" },
  "token-env": { type: "string" },
  json: { type: "boolean" },
} as const;

type Named = [name: string, texts: readonly string[]];

const optionsIn = ({ options }: TerminalCommand, given: Readonly<Record<string, unknown>>): Named[] =>
  Object.entries(given).map(([name, value]) => {
    const texts = [value].flat().map(String);
    if (!options[name]?.isList) return [name, texts];
    return [name, texts.flatMap((text) => text.split(",").flatMap((item) => item.trim() || []))];
  });

/** Whether the fixed words of a form stand where it has them. */
const isFor = (parameters: readonly Parameter[], given: readonly string[]) =>
  parameters.every(({ isLiteral, text }, at) => !isLiteral || given[at] === text);

function readPositionals(parameters: readonly Parameter[], given: readonly string[], usage: string): Named[] {
  const left = [...given];
  const read = parameters.flatMap(({ text, isLiteral, isOptional, isRest }): Named[] => {
    if (text.startsWith("@") && !left[0]?.startsWith("@")) return [];
    const texts = isRest ? left.splice(0) : left.splice(0, 1);
    if (isLiteral && texts[0] !== text) throw new UsageError(usage);
    if (texts.length === 0 && !isOptional) throw new UsageError(`Missing ${text}. ${usage}`);
    if (isLiteral || texts.length === 0) return [];
    // A text needs no quotes around it.
    return [[text.toLowerCase(), text === "TEXT" ? [texts.join(" ")] : texts]];
  });
  if (left.length > 0) throw new UsageError(`Unexpected argument "${left[0] ?? ""}". ${usage}`);
  return read;
}

const usageOf = (forms: readonly string[]) => `Usage: ${forms.join("\n       ")}`;

/** Reads a line that is typed while a run is paused: without RUN and options, and its last word takes the rest. */
export function readLine(line: string, commands: readonly TerminalCommand[]) {
  const [name = "", ...given] = line.trim().split(/\s+/);
  const forms = commands
    .filter((command) => command.name === name.toLowerCase())
    .map((command) => ({ ...command, parameters: command.parameters.filter(({ text }) => text !== "RUN") }));
  const command = forms.find(({ parameters }) => isFor(parameters, given)) ?? forms[0];
  if (!command) throw new UsageError(`Unknown command "${name}". Enter ? to list the commands.`);
  const parameters = command.parameters.filter(
    ({ text }) => !text.startsWith("@") || given[0]?.startsWith("@"),
  );
  const parts = split(line, parameters.length + 1).slice(1);
  const input = inputOf(command, readPositionals(parameters, parts, usageOf(forms.map(lineForm))));
  return { operation: command.operation, input };
}

/** The first words of a line, and what follows them as the last. */
function split(line: string, count: number): string[] {
  const parts: string[] = [];
  let rest = line.trim();
  while (rest !== "") {
    if (parts.length === count - 1) return [...parts, rest];
    const [word = ""] = rest.split(/\s/, 1);
    parts.push(word);
    rest = rest.slice(word.length).trimStart();
  }
  return parts;
}

/** A form as it is typed while a run is paused. */
export const lineForm = ({ form }: Pick<TerminalCommand, "form">) =>
  form.form.replace(/ RUN\b| \[--[^\]]*\](\.\.\.)?/g, "");

/** What the arguments and options come to. */
function inputOf({ operation, form, options }: TerminalCommand, given: readonly Named[]): JsonObject {
  let input: JsonObject = form.preset ?? {};
  for (const [name, texts] of given) {
    const field = form.fields?.[name] ?? USUAL[name] ?? name;
    const part =
      typeof field === "function"
        ? field(...texts)
        : nested(field.split("."), valueFor(fieldAt(operation.input, field), texts, options[name]?.isList));
    input = merged(input, part, name);
  }
  return { ...form.defaults, ...input };
}

const nested = ([step = "", ...rest]: readonly string[], value: Json): JsonObject => ({
  [step]: rest.length === 0 ? value : nested(rest, value),
});

const USUAL: NonNullable<CommandForm["fields"]> = {
  run: "run_id",
  // One time that a node came up has a number: "ask#2".
  node: (node) => (node.includes("#") ? { activation_id: node } : { node_id: node }),
};

function merged(before: JsonObject, part: JsonObject, name: string): JsonObject {
  const result = { ...before };
  for (const [key, value] of Object.entries(part)) {
    const there = result[key];
    if (there === undefined) result[key] = value;
    else if (isObject(there) && isObject(value)) result[key] = merged(there, value, name);
    else throw new UsageError(`${name} conflicts with another argument.`);
  }
  return result;
}

function fieldAt(schema: z.ZodType, path: string): z.ZodType | undefined {
  return path.split(".").reduce<z.ZodType | undefined>((inner, step) => {
    const object = inner && unwrapped(inner);
    const field: unknown = object instanceof z.ZodObject ? object.shape[step] : undefined;
    return field instanceof z.ZodType ? unwrapped(field) : undefined;
  }, schema);
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  const inner: unknown = isWrapper ? schema.unwrap() : schema;
  return isWrapper && inner instanceof z.ZodType ? unwrapped(inner) : schema;
}

/** Texts as what a field holds. */
function valueFor(field: z.ZodType | undefined, texts: readonly string[], isList = false): Json {
  const [text = ""] = texts;
  if (isList || field instanceof z.ZodArray) return [...texts];
  if (field instanceof z.ZodBoolean) return text === "true";
  if (field instanceof z.ZodRecord)
    return text.trimStart().startsWith("{") ? jsonOrText(text) : Object.fromEntries(texts.map(pairOf));
  if (field === undefined || field instanceof z.ZodString || field instanceof z.ZodEnum) return text;
  return jsonOrText(text);
}

/** Reads KEY=VALUE. Throws UsageError. */
function pairOf(given: string): [string, Json] {
  const cut = given.indexOf("=");
  if (cut < 1) throw new UsageError(`${given}: use KEY=VALUE.`);
  return [given.slice(0, cut).trim(), jsonOrText(given.slice(cut + 1).trim())];
}

/** A text as JSON, or as it stands. */
function jsonOrText(text: string): Json {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return text;
  }
}
