import { defined } from "@/server/domain/base/defined";
import { isList, isText, textsOf } from "@/server/domain/base/guards";
import { asSchema, optionsOf, propertiesOf } from "@/server/domain/base/json-schema";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { instanceOf, type Suggest } from "./instance";
import type { Prompt } from "./prompt";

/** A task for each of up to four available roles; the last one waits for the others. Undefined if it is no such list. */
export function tasksFor(prompt: Prompt, list: JsonSchema, suggest: Suggest): Json | undefined {
  const item = asSchema(list.items);
  const properties = propertiesOf(item);
  const field = ["required_role", "assigned_agent"].find((key) => namesIn(properties[key]).length > 0);
  if (field === undefined) return undefined;
  const names = namesIn(properties[field]);
  const others = names.filter((name) => name !== prompt.role);
  const workers = (others.length > 0 ? others : names).slice(0, 4);
  // A new plan after replanning mentions the existing tasks: their ids are taken.
  const taken = Math.max(0, ...[...prompt.all.matchAll(/^- task_(\d{1,4}) \(/gm)].map(([, n]) => Number(n)));
  const ids = workers.map((_, at) => `task_${taken + at + 1}`);
  return workers.map((name, at) => {
    const task: JsonObject = {
      task_id: ids[at] ?? "",
      description: `${name}'s part of the goal`,
      [field]: name,
      dependencies: at === workers.length - 1 ? ids.slice(0, at) : [],
      priority: "medium",
      estimated_duration: "15m",
      tags: [],
    };
    return instanceOf(item, (key, schema) => task[key] ?? suggest(key, schema));
  });
}

function namesIn(schema: Json | undefined): string[] {
  const { enum: values, ...rest } = asSchema(schema);
  if (isList(values)) return values.filter(isText);
  return optionsOf(rest)?.flatMap(namesIn) ?? [];
}

/** The answer if a crew requests one of the schemas that only crews use; null for every other schema. */
export function crewAnswer(prompt: Prompt, schema: JsonSchema): Json | null {
  const properties = propertiesOf(schema);
  const has = (...keys: string[]) => keys.every((key) => key in properties);
  const goal = prompt.inputs.goal ?? prompt.task;
  if (has("send_to", "ledger", "stop")) return managerTurn(prompt, properties, goal);
  if (has("decision", "rationale"))
    return { decision: goal, rationale: "The offline demo model proposes the goal unchanged." };
  if (has("verdicts"))
    return {
      verdicts: [...prompt.task.matchAll(/^- (.+)$/gm)].map(([, criterion = ""]) => ({
        criterion,
        met: true,
        evidence: "The offline demo model checks nothing.",
      })),
    };
  return null;
}

/** Asks each worker once, in their order, and then answers the person with their replies. */
function managerTurn(prompt: Prompt, properties: Record<string, JsonSchema>, goal: string): JsonObject {
  const workers = textsOf(properties.send_to?.enum).filter((name) => name !== "User");
  const replies = repliesIn(prompt);
  const next = workers.find((name) => !replies.has(name));
  const plan = workers.map((name) => `${name}: their part of the goal`);
  const message =
    next === undefined
      ? [...replies].map(([name, reply]) => `${name}: ${reply}`).join("\n\n")
      : `Do your part of this goal: ${goal}`;
  const outputs = Object.keys(propertiesOf(properties.outputs ?? {}));
  const verdict = (answer: boolean) => ({ answer, reason: "The offline demo model asks each worker once." });
  return {
    plan,
    current_plan_step: plan[workers.indexOf(next ?? "")] ?? "Answer the person",
    send_to: next ?? "User",
    message,
    ledger: {
      is_request_satisfied: verdict(next === undefined),
      is_in_loop: verdict(false),
      is_progress_being_made: verdict(true),
    },
    stop: next === undefined ? "Completed" : null,
    ...defined({
      outputs:
        next === undefined && outputs.length > 0
          ? Object.fromEntries(outputs.map((key) => [key, message]))
          : undefined,
    }),
  };
}

/** What each worker replied last. */
const repliesIn = ({ messages }: Prompt): Map<string, string> =>
  new Map(
    messages
      .filter(({ role }) => role === "user")
      .flatMap(({ content }): [string, string][] => {
        const [, name, rest = ""] = /<reply from="([\w-]{1,64})">([\s\S]*)/.exec(content) ?? [];
        const end = rest.indexOf("</reply>");
        return name === undefined || end < 0 ? [] : [[name, rest.slice(0, end).trim()]];
      }),
  );
