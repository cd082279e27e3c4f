import { isList, isText, textsOf } from "@/server/domain/base/guards";
import { asSchema, optionsOf } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { instanceOf, type Suggest } from "../instance";
import type { Prompt } from "../prompt";
import { type Persona, personaByName } from "./prose";

/** A short plan for the roles on offer: two begin side by side, the last one brings their results together. */
export function tasksFor(prompt: Prompt, list: JsonSchema, suggest: Suggest): Json[] {
  const item = asSchema(list.items);
  const properties = asSchema(item.properties);
  const field =
    "required_role" in properties || !("assigned_agent" in properties) ? "required_role" : "assigned_agent";
  const workers = offered(properties, prompt).slice(0, 4);
  const names: (string | null)[] = workers.length > 0 ? workers : [null, null];
  // A plan that is made anew names the tasks there were: their ids are taken.
  const taken = Math.max(0, ...[...prompt.all.matchAll(/^- task_(\d{1,4}) \(/gm)].map(([, n]) => Number(n)));
  const id = (at: number) => `task_${taken + at + 1}`;
  return names.map((name, at) => {
    const last = names.length > 2 && at === names.length - 1;
    const before = last
      ? names.slice(0, -1).map((_, n) => id(n))
      : names.length === 2 && at === 1
        ? [id(0)]
        : [];
    const task: JsonObject = {
      task_id: id(at),
      description: describe(name, prompt, last || (names.length === 2 && at === 1)),
      ...(name === null ? {} : { [field]: name }),
      dependencies: before,
      priority: last ? "high" : "medium",
      estimated_duration: "15m",
      tags: [],
      expected_output: `A short result on ${prompt.topic}`,
      status: "pending",
    };
    return fitted(task, item, suggest);
  });
}

/** What each kind of worker does about a goal, in words that a goal can follow. */
export const WORK: Partial<Record<Persona, string>> = {
  researcher: "Gather what is known for",
  interpreter: "Compute what can be computed for",
  analyst: "Weigh options and risks for",
  writer: "Write it up",
  editor: "Polish the result for",
  developer: "Build a first version for",
  tester: "Test the result for",
  reviewer: "Review the result for",
  messenger: "Tell the people concerned about",
};

function describe(name: string | null, prompt: Prompt, closing: boolean): string {
  if (closing) return `Bring the results together for this goal: ${prompt.topic}`;
  const persona = name === null ? undefined : personaByName(name);
  return `${(persona && WORK[persona]) ?? "Work out one part of"}: ${prompt.topic}`;
}

/** The roles that a plan may name: what the schema allows, else what the prompt lists. */
function offered(properties: JsonSchema, prompt: Prompt): string[] {
  for (const key of ["required_role", "assigned_agent"]) {
    const names = namesIn(asSchema(properties[key]));
    if (names.length > 0) return names.length > 1 ? names.filter((name) => name !== prompt.role) : names;
  }
  return listedRoles(prompt).filter((name) => name !== prompt.role);
}

function namesIn(schema: JsonSchema): string[] {
  if (isList(schema.enum)) return schema.enum.filter(isText);
  return optionsOf(schema)?.flatMap((option) => namesIn(asSchema(option))) ?? [];
}

/** Names in a list below a line that speaks of roles, a team or agents. */
function listedRoles(prompt: Prompt): string[] {
  const names: string[] = [];
  let listing = false;
  for (const line of prompt.all.split("\n")) {
    const entry =
      /^(?:[-*•]|\d{1,9}[.)])\s{1,20}["“`*]{0,4}([^\s:"”`*(–—][^:"”`*(–—]{1,79}?)["”`*]{0,4}\s{0,20}(?:[:(–—]|- |$)/.exec(
        line.trim(),
      )?.[1];
    if (listing && entry !== undefined) names.push(entry.trim());
    else if (line.trim() !== "") {
      const inLine = /\b(?:roles|agents|team|coworkers)\b[^:\n]{0,200}:\s{0,20}(\S.*)$/i.exec(line)?.[1];
      if (inLine !== undefined)
        names.push(
          ...inLine
            .split(/[,;]/)
            .map((name) => name.replace(/["“”.`]/g, "").trim())
            .filter((name) => name.length < 81),
        );
      listing = /\b(?:roles|agents|team|coworkers)\b[^\n]{0,200}:$/i.test(line.trim());
    }
  }
  return [...new Set(names)];
}

/** Only the fields that the schema knows, and all that it requires. */
function fitted(task: JsonObject, item: JsonSchema, suggest: Suggest): Json {
  const properties = asSchema(item.properties);
  if (Object.keys(properties).length === 0) return task;
  const whole = instanceOf(item, suggest);
  const base = whole !== null && typeof whole === "object" && !Array.isArray(whole) ? whole : {};
  const required = new Set(textsOf(item.required));
  const entries = Object.keys(properties).flatMap((key): [string, Json][] => {
    if (key in task) return [[key, must(task, key)]];
    return required.has(key) && key in base ? [[key, must(base, key)]] : [];
  });
  return Object.fromEntries(entries);
}
