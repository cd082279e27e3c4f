import { defined } from "@/server/domain/base/defined";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { choicesOf, fieldsOfSchema, objectOf } from "@/server/domain/graph/form-fields";
import type { RunInputField } from "@/server/domain/graph/run-input";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { optionNamed, readAnswer } from "@/server/domain/run/questions/person-answer";
import { askedOf } from "@/server/domain/run/questions/question-text";
import { answerErrors, checkAnswer, type PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import type { AnswerOption } from "@/server/domain/tool/person-question";
import type { ToolQuestion } from "@/server/domain/tool/tool";
import type { Steering } from "@/server/runner/people/steering";
import { printable, printableLine } from "./output/printable";

type Question = RunEventOf<"interaction_requested">["payload"];

/** How questions of a run are answered where no browser shows them. */
export type Answering = "ask" | "yes" | "no";

/** A person at a terminal. */
export interface Terminal {
  print(text: string): void;
  ask(prompt: string): Promise<string>;
}

interface AnsweringParts {
  steering: Pick<Steering, "answer">;
  run_id: string;
  how: Answering;
  terminal: Terminal;
  /** Resumes a paused run. */
  goOn?: (how: Answering) => Promise<void>;
}

/**
 * Answers a run's questions as they come: by asking at the terminal, or always the same. Without a terminal and without
 * `--yes` the answer is no, at once, because no one will come.
 */
export function newAnswering({ steering, run_id, how, terminal, goOn = async () => {} }: AnsweringParts) {
  /** Questions are asked one after the other. */
  let asking = Promise.resolve();
  const give = ({ interaction_id, fingerprint }: Question, value: PersonsAnswer) => {
    steering.answer(run_id, interaction_id, fingerprint, { ...value, by: "terminal" });
  };
  const answer: Record<Answering, (question: Question) => void> = {
    yes: (question) => give(question, agreeing(question)),
    no: (question) =>
      give(question, {
        answer: "reject",
        message: "There is no interactive terminal to ask in. Use --yes to approve tool calls and steps.",
      }),
    ask: (question) => {
      asking = asking.then(async () => give(question, await askPerson(question, terminal)));
    },
  };
  return {
    events(events: readonly RunEvent[]): void {
      for (const event of events) {
        if (event.type === "run_paused") asking = asking.then(() => goOn(how));
        if (event.type === "interaction_requested") answer[how](event.payload);
      }
    },
  };
}

/** Approves: forms are sent as they were given, and what needs a person's own answer is declined. */
function agreeing(question: Question): PersonsAnswer {
  const { asks, options, response_schema } = question;
  if (options || response_schema) {
    const read = readAnswer(question, options ? { answer: "approve" } : { value: {} });
    return read.ok
      ? read.answer
      : { answer: "reject", message: "--yes only approves; it can't choose an option or fill in a form." };
  }
  if (asks?.url !== undefined) return { answer: "reject", message: "--yes doesn't open URLs." };
  const yes: PersonsAnswer = { answer: "approve", ...(asks?.schema && { content: {} }) };
  return answerErrors(question, yes).length === 0
    ? yes
    : { answer: "reject", message: "--yes only sends a form's default values, and this form needs more." };
}

async function askPerson(question: Question, terminal: Terminal): Promise<PersonsAnswer> {
  const shown = question.calls ?? (question.args ? [question] : []);
  const about = shown.map((call) => `\n${asText(call)}`).join("\n");
  terminal.print(`\n${printableLine(question.title)}\n${printableLine(question.why)}${printable(about)}\n`);
  for (const phrase of askedOf(question)) terminal.print(printable(`${phrase}.\n`));
  if (question.body) terminal.print(printable(`\n${question.body}\n`));
  if (question.options) return choose(question, question.options, terminal);
  if (question.response_schema) return fillIn(question, question.response_schema, terminal);
  if (question.asks) return answerQuestion(question.asks, terminal);
  const reply = (await terminal.ask("Approve? [y]es / [a]lways in this run / [N]o: ")).trim().toLowerCase();
  if (reply === "y" || reply === "yes") return { answer: "approve" };
  if (reply === "a") return { answer: "approve_always" };
  return { answer: "reject", ...(reply && reply !== "n" && reply !== "no" ? { message: reply } : {}) };
}

/** Asks for a changed draft, one of the options, and a comment. */
async function choose(
  question: Question,
  options: readonly AnswerOption[],
  terminal: Terminal,
): Promise<PersonsAnswer> {
  const value = question.draft === undefined ? undefined : await changed(question.draft, terminal);
  const choices = options.map(({ label }, at) => `${at + 1} = ${label}`).join(", ");
  for (;;) {
    const line = (await terminal.ask(printableLine(`Which? ${choices}: `))).trim();
    const option = options[Number(line) - 1] ?? optionNamed(options, line);
    if (!option) {
      terminal.print(printable("Enter the number or name of an option.\n"));
      continue;
    }
    const message = (await terminal.ask("Comment (Enter for none): ")).trim();
    const read = readAnswer(question, {
      answer: option.value,
      ...defined({ value, message: message.slice(0, 4000) || undefined }),
    });
    if (read.ok) return read.answer;
    terminal.print(printable(`${read.errors.map((error) => error.message).join(" ")}\n`));
  }
}

/** The changed draft; undefined if it is kept. */
async function changed(draft: string, terminal: Terminal): Promise<string | undefined> {
  terminal.print(printable(`\nDraft:\n${draft}\n`));
  const first = await terminal.ask(
    "Press Enter to keep it, or enter a new version and end it with a line that contains only a period: ",
  );
  if (first.trim() === "") return undefined;
  const lines = [first];
  for (let line = await terminal.ask(""); line.trim() !== "."; line = await terminal.ask(""))
    lines.push(line);
  return lines.join("\n");
}

async function fillIn(question: Question, schema: JsonSchema, terminal: Terminal): Promise<PersonsAnswer> {
  terminal.print(printable("Your answer is stored with the run. Don't enter passwords or keys.\n"));
  const word = (await terminal.ask("Fill in the form? [y]es / [N]o: ")).trim().toLowerCase();
  if (word !== "y" && word !== "yes")
    return { answer: "reject", ...(word && word !== "n" && word !== "no" ? { message: word } : {}) };
  for (;;) {
    const value: JsonObject = {};
    for (const field of fieldsOfSchema(schema)) value[field.key] = await askField(field, terminal);
    const read = readAnswer(question, { value });
    if (read.ok) return read.answer;
    terminal.print(printable(`${read.errors.map(({ message }) => message).join(" ")}\n`));
  }
}

/** Asks for the fields of a form one by one, or to open a page in a browser. */
async function answerQuestion(
  { from, schema, url }: ToolQuestion,
  terminal: Terminal,
): Promise<PersonsAnswer> {
  if (url !== undefined)
    terminal.print(
      printable(
        `"${from}" asks you to open a page on ${new URL(url).host} in your browser:\n  ${url}\nIt won't open automatically.\n`,
      ),
    );
  else
    terminal.print(
      printable(`Your answer goes to "${from}" and is stored with the run. Don't enter passwords or keys.\n`),
    );
  const how = url === undefined ? "Answer now?" : "Done?";
  const line = (await terminal.ask(`${how} [y]es / [n]o / [L]ater: `)).trim().toLowerCase();
  if (line === "n" || line === "no") return { answer: "reject" };
  if (line !== "y" && line !== "yes") return { answer: "cancel" };
  if (url !== undefined || !schema) return { answer: "approve" };
  const content: JsonObject = {};
  for (const field of fieldsOfSchema(schema)) content[field.key] = await askField(field, terminal);
  return { answer: "approve", content };
}

/** Asks for one field until the value is valid; null if it is left out. */
async function askField(field: RunInputField, terminal: Terminal): Promise<Json> {
  const { key, schema, required, default: preset } = field;
  const title = typeof schema.title === "string" ? schema.title : key;
  const about = [
    typeof schema.description === "string" && schema.description,
    choicesText(schema),
    emptyText(field),
  ]
    .filter(Boolean)
    .join("; ");
  const prompt = printableLine(`${title}${about === "" ? "" : ` [${about}]`}: `);
  const alone: JsonSchema = {
    type: "object",
    properties: { [key]: schema },
    ...defined({ required: required ? [key] : undefined }),
  };
  for (;;) {
    const line = (await terminal.ask(prompt)).trim();
    const isLeftOut = line === "-" && preset !== undefined;
    const value = line === "" ? (preset ?? null) : isLeftOut ? null : valueOf(field, line);
    const read = checkAnswer(alone, { [key]: value });
    if (read.ok) return value;
    terminal.print(printable(`${read.errors.map(({ message }) => message).join(" ")}\n`));
  }
}

/** What can be entered for a field; empty if it is free text. */
function choicesText(schema: JsonSchema): string {
  const isMany = schema.type === "array";
  const choices = choicesOf(isMany ? (objectOf(schema.items) ?? {}) : schema) ?? [];
  if (choices.length === 0) return schema.type === "boolean" ? "y or n" : "";
  const names = choices.map(({ value, title }) => (title === value ? title : `${asWord(value)} (${title})`));
  return `${isMany ? "one or more, separated by commas" : "one of"}: ${names.join(", ")}`;
}

/** What Enter does for a field. */
function emptyText({ required, default: preset }: RunInputField): string {
  if (preset !== undefined) return `Enter for ${asWord(preset)}, - to skip`;
  return required ? "" : "Enter to skip";
}

/** A line as a value of the field's type; one that doesn't fit stays text, which the schema rejects. */
function valueOf({ schema }: RunInputField, line: string): Json {
  if (schema.type === "object" || (schema.type === "array" && !isChoices(schema)))
    return readJson(line) ?? line;
  if (schema.type === "array")
    return line.split(",").map((one) => chosen(objectOf(schema.items) ?? {}, one.trim()));
  if (schema.type === "number" || schema.type === "integer")
    return Number.isFinite(Number(line)) ? Number(line) : line;
  if (schema.type === "boolean")
    return /^(?:true|yes|y)$/i.test(line) ? true : /^(?:false|no|n)$/i.test(line) ? false : line;
  return chosen(schema, line);
}

/** Whether a list's items are entered as plain text with commas between; others are entered as JSON. */
const isChoices = ({ items }: JsonSchema): boolean => {
  const { type } = objectOf(items) ?? {};
  return type !== "object" && type !== "array";
};

function readJson(text: string): Json | undefined {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A choice by its value or title. */
const chosen = (schema: JsonSchema, line: string): Json =>
  choicesOf(schema)?.find(({ value, title }) => asWord(value) === line || title === line)?.value ?? line;

const asWord = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

/** A tool call with its arguments, and the destinations that no person wrote. */
function asText({
  tool_name,
  args,
  destinations = [],
}: Pick<Question, "tool_name" | "args" | "destinations">): string {
  const places = destinations.map(
    ({ value, from }) =>
      `  sends to ${value} (${from === null ? "not found in anything it read" : `from ${from}`})`,
  );
  return [tool_name, JSON.stringify(args, null, 2), ...places].filter(Boolean).join("\n");
}
