import { type Findings, isRaw, join, type Raw } from "@/server/domain/base/lenient-reader";

/** A crew as CrewAI's files describe it, whichever kind of file it was. */
export interface CrewModel {
  name: string;
  agents: Map<string, AgentModel>;
  tasks: TaskModel[];
  process: "sequential" | "hierarchical";
  /** The key of the agent that leads a hierarchical crew. */
  manager: string | null;
  planning: boolean;
  memory: boolean;
  inputs: Raw;
  /** Code that came with it and isn't run, by name: text for notes. */
  code: Map<string, string>;
  /** Where its settings stand. */
  report: Findings;
}

export interface AgentModel {
  key: string;
  role: string;
  goal: string;
  backstory: string;
  tools: string[];
  allow_delegation: boolean;
  max_iter: number | null;
  max_rpm: number | null;
  max_execution_time: number | null;
  /** Where it stands, with its file. */
  report: Findings;
}

export interface TaskModel {
  key: string;
  description: string;
  expected_output: string;
  agent: string | null;
  /** Null: all tasks before it. */
  context: string[] | null;
  tools: string[];
  guardrails: string[];
  guardrail_retries: number | null;
  isAsync: boolean;
  human_input: boolean;
  /** JSON Schema of its answer, where it is more than a text and can be told. */
  schema: Raw | null;
  /** The condition of a conditional task, as written in the file. */
  condition: string | null;
  report: Findings;
}

const AGENT_FIELDS = new Set([
  "role",
  "goal",
  "backstory",
  "tools",
  "allow_delegation",
  "max_iter",
  "max_rpm",
  "max_execution_time",
  "settings",
  "name",
  "input",
]);
/** They change how much is shown or kept, and nothing of what is done. */
const NO_EFFECT = new Set([
  "verbose",
  "cache",
  "tracing",
  "stream",
  "output_log_file",
  "markdown",
  "share_crew",
  "respect_context_window",
  "use_system_prompt",
  "max_retry_limit",
  "inject_date",
  "date_format",
]);
const TASK_FIELDS = new Set([
  "name",
  "description",
  "expected_output",
  "agent",
  "context",
  "tools",
  "guardrail",
  "guardrails",
  "guardrail_max_retries",
  "async_execution",
  "human_input",
  "type",
  "condition",
  "output_file",
  "create_directory",
]);

const MODEL_FIELDS = new Set(["llm", "function_calling_llm", "planning_llm", "chat_llm", "embedder"]);

export const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value.trim()
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : null;
const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];

/** Whether a value looks like one of CrewAI's agents. */
export const isAgent = (value: unknown): value is Raw =>
  isRaw(value) &&
  typeof value.role === "string" &&
  (typeof value.goal === "string" || typeof value.backstory === "string");
/** Whether a value looks like one of CrewAI's tasks. */
export const isTask = (value: unknown): value is Raw =>
  isRaw(value) &&
  typeof value.description === "string" &&
  ("expected_output" in value || "agent" in value || "context" in value);

/** Whether an agent only names one that CrewAI keeps for its maker: it is not fetched, so that nothing is known of it. */
export const isInRepository = (raw: Raw): boolean =>
  typeof raw.from_repository === "string" && !textOf(raw.role) && !textOf(raw.goal) && !textOf(raw.backstory);

/** Reads an agent; findings say which of its settings have no counterpart. */
export function readAgent(key: string, source: Raw, report: Findings): AgentModel {
  const raw = isRaw(source.settings) ? { ...source, ...source.settings } : source;
  const unknown: string[] = [];
  for (const [field, value] of Object.entries(raw)) {
    if (value === null || value === undefined || AGENT_FIELDS.has(field) || NO_EFFECT.has(field)) continue;
    if (MODEL_FIELDS.has(field)) reportModel(field, value, report);
    else if (value !== false) unknown.push(field);
  }
  if (unknown.length > 0)
    report.dropped(
      "",
      `This agent's ${named(unknown)} ${unknown.length === 1 ? "has" : "have"} no equivalent and ${unknown.length === 1 ? "was" : "were"} left out.`,
    );
  return {
    key,
    role: textOf(raw.role) || key,
    goal: textOf(raw.goal),
    backstory: textOf(raw.backstory),
    tools: readTools(raw.tools, report, "tools"),
    allow_delegation: raw.allow_delegation === true,
    max_iter: numberOf(raw.max_iter),
    max_rpm: numberOf(raw.max_rpm),
    max_execution_time: numberOf(raw.max_execution_time),
    report,
  };
}

/** Reads a task; findings say what of it has no counterpart. */
export function readTask(key: string, raw: Raw, report: Findings): TaskModel {
  reportUnknownFields(raw, report);
  const file = textOf(raw.output_file);
  if (file) report.dropped("output_file", `The output is stored in the run, not written to ${file}.`);
  const guardrails = readGuardrails(raw, report);
  const isConditional = readConditional(raw, report);
  const expected = textOf(raw.expected_output);
  if (!expected) report.info("expected_output", "The task doesn't say what it should return.");
  return {
    key,
    description: textOf(raw.description),
    expected_output: expected,
    agent: textOf(raw.agent) || null,
    context:
      raw.context === undefined || raw.context === null
        ? null
        : listOf(raw.context).map(textOf).filter(Boolean),
    tools: readTools(raw.tools, report, "tools"),
    guardrails,
    guardrail_retries: numberOf(raw.guardrail_max_retries),
    isAsync: raw.async_execution === true,
    human_input: raw.human_input === true,
    schema:
      Object.values(raw)
        .map(schemaIn)
        .find((schema) => schema !== null) ?? null,
    condition: isConditional ? referenceOf(raw.condition) : null,
    report,
  };
}

function reportUnknownFields(raw: Raw, report: Findings): void {
  for (const [field, value] of Object.entries(raw)) {
    if (value === null || value === false || value === undefined) continue;
    if (TASK_FIELDS.has(field) || NO_EFFECT.has(field)) continue;
    if (MODEL_FIELDS.has(field)) reportModel(field, value, report);
    else if (!schemaIn(value))
      report.dropped(
        field,
        `The task's "${field}" has no equivalent and was left out${isRaw(value) ? `: ${referenceOf(value)}` : ""}.`,
      );
  }
}

function readGuardrails(raw: Raw, report: Findings): string[] {
  return [...listOf(raw.guardrail), ...listOf(raw.guardrails)].flatMap((rule) => {
    if (typeof rule === "string") return rule.trim() === "" ? [] : [rule];
    report.dropped(
      "guardrail",
      `A guardrail is code (${referenceOf(rule)}) and was left out. Write its rule as text in the step.`,
    );
    return [];
  });
}

/** Whether a task depends on a condition. */
function readConditional(raw: Raw, report: Findings): boolean {
  const type = typeof raw.type === "string" ? raw.type : isRaw(raw.type) ? referenceOf(raw.type) : "";
  if (type === "ConditionalTask" || (raw.condition !== undefined && raw.condition !== null)) return true;
  if (type && type !== "Task")
    report.dropped("type", `The task has a custom type (${type}), which is code; it became a regular step.`);
  return false;
}

/** The JSON Schema that code names for a task's answer. */
const schemaIn = (value: unknown): Raw | null => (isRaw(value) && isRaw(value.schema) ? value.schema : null);

/** Names of tools; those that are programs stay names, which nothing here answers to. */
function readTools(value: unknown, report: Findings, at: string): string[] {
  return listOf(value).flatMap((tool, place) => {
    if (typeof tool === "string" && tool.trim()) return [tool.trim()];
    if (isRaw(tool) && typeof tool.name === "string") return [tool.name];
    if (tool !== null)
      report.dropped(join(at, place), `A tool is defined in code (${referenceOf(tool)}) and was left out.`);
    return [];
  });
}

function reportModel(field: string, value: unknown, report: Findings): void {
  const model = typeof value === "string" ? value : isRaw(value) ? textOf(value.model) : "";
  report.dropped(
    field,
    `${model ? `The model ${model}` : `"${field}"`} was left out: steps use your default model. Choose another in the step.`,
  );
}

/** A reference to a program, as text: it is never resolved. */
export const referenceOf = (value: unknown): string =>
  (isRaw(value) && typeof value.python === "string"
    ? value.python
    : typeof value === "string"
      ? value
      : (JSON.stringify(value) ?? "")
  ).slice(0, 200);

const named = (fields: readonly string[]): string => fields.map((field) => `"${field}"`).join(", ");

/** What is wrong with the contexts of tasks: CrewAI refuses these, too. */
export function checkContexts(tasks: readonly TaskModel[]): void {
  const before = new Set<string>();
  const all = new Set(tasks.map(({ key }) => key));
  for (const { key, context, report } of tasks) {
    for (const name of context ?? [])
      if (!before.has(name))
        report.error(
          "context",
          all.has(name)
            ? `"${key}" waits for "${name}", which comes later. A task can only wait for earlier tasks.`
            : `"${key}" waits for the task "${name}", which is not in the file.`,
        );
    before.add(key);
  }
}
