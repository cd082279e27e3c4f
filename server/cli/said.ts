import { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { Json, type JsonObject, StateKey } from "@/server/domain/base/values";
import { isCrewNode } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import type { RunCommand } from "@/server/domain/run/commands/command";
import type { TeamEdit } from "@/server/domain/run/commands/team-edit";

/** What a person says at the terminal to a run that is paused. */
export type DebugInput =
  | Extract<RunCommand, { kind: "resume" | "step" | "edit_state" | "inject" | "signal" }>
  | { kind: "skip" | "retry"; node: string; output: JsonObject }
  | { kind: "next"; node: string; to: string }
  | { kind: "team"; edit: TeamEdit }
  | { kind: "cancel" }
  | { kind: "help" }
  | { kind: "unclear"; message: string };

export const PROMPT =
  "Enter = go on, s = one node, t = one turn of an agent, q = cancel the run, ? = what else: ";

export const HELP = `
  set KEY=VALUE          gives the state a value, as JSON or as text
  remove KEY             takes a value away
  instruct TEXT          tells all agents something; instruct @NAME TEXT one agent, or those of a node
  next NODE TO           after that node the run goes to TO: a node, or an agent of its crew
  skip NODE [JSON]       gives that node this output instead of carrying it out
  retry NODE             tries a node again that failed
  signal NAME [VALUE]    sends a signal to whoever waits for it
  team add ROLE          adds a role to the crew
  team remove AGENT      takes an agent out of the crew
  team model AGENT MODEL has the agent ask another model
`;

const unclear = (message: string): DebugInput => ({ kind: "unclear", message });

/** Reads a line: a value that is no JSON is a text. */
export function parseDebugInput(line: string): DebugInput {
  const [word, rest] = cut(line);
  switch (word.toLowerCase()) {
    case "":
    case "c":
      return { kind: "resume" };
    case "s":
      return { kind: "step", granularity: "node" };
    case "t":
      return { kind: "step", granularity: "turn" };
    case "q":
      return { kind: "cancel" };
    case "?":
    case "help":
      return { kind: "help" };
    case "remove":
      return StateKey.safeParse(rest).success
        ? { kind: "edit_state", set: {}, remove: [rest] }
        : unclear("Write which key is to go: remove KEY.");
    case "set":
      return readSet(rest);
    case "instruct":
      return readInstruction(rest);
    case "next": {
      const [node, to] = cut(rest);
      return node && to
        ? { kind: "next", node, to }
        : unclear("Write after what, and what comes: next NODE TO.");
    }
    case "skip":
      return readSkip(rest);
    case "retry":
      return rest ? { kind: "retry", node: rest, output: {} } : unclear("Write which node: retry NODE.");
    case "signal": {
      const [name, data] = cut(rest);
      return name
        ? { kind: "signal", name, data: data === "" ? null : valueOf(data) }
        : unclear("Write which signal: signal NAME [VALUE].");
    }
    case "team":
      return readTeam(rest);
    default:
      return unclear(`“${word}” is none of them; ? lists them.`);
  }
}

const cut = (text: string): [word: string, rest: string] => {
  const [word = "", rest = ""] = text.trim().split(/\s+(.*)/s, 2);
  return [word, rest.trim()];
};

function readSet(rest: string): DebugInput {
  const at = rest.indexOf("=");
  const key = rest.slice(0, Math.max(0, at)).trim();
  if (at < 0 || !StateKey.safeParse(key).success)
    return unclear("Write which key is to have which value: set KEY=VALUE.");
  return { kind: "edit_state", set: { [key]: valueOf(rest.slice(at + 1).trim()) }, remove: [] };
}

function readInstruction(rest: string): DebugInput {
  const [first, more] = cut(rest);
  const who = /^@(.+)$/.exec(first)?.[1];
  const text = who === undefined ? rest : more;
  if (text === "") return unclear("Write what they are to do: instruct [@NAME] TEXT.");
  return { kind: "inject", target: who === undefined ? { run: true } : { agent_id: who }, text };
}

function readSkip(rest: string): DebugInput {
  const [node, text] = cut(rest);
  const output = z.record(StateKey, Json).safeParse(text === "" ? {} : valueOf(text));
  return node && output.success
    ? { kind: "skip", node, output: output.data }
    : unclear('Write which node, and its output as a JSON object: skip NODE {"key": "value"}.');
}

function readTeam(rest: string): DebugInput {
  const [what, more] = cut(rest);
  const [who, model] = cut(more);
  if (what === "add" && more) return { kind: "team", edit: { kind: "add", role_name: more } };
  if (what === "remove" && who) return { kind: "team", edit: { kind: "remove", agent_id: who } };
  if (what === "model" && who && model)
    return { kind: "team", edit: { kind: "change", agent_id: who, patch: { llm_config: { model } } } };
  return unclear("Write team add ROLE, team remove AGENT or team model AGENT MODEL.");
}

/** A text as JSON, or as it stands where it is none. */
export function valueOf(text: string): Json {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return text;
  }
}

/** What was said as the run is told it, or why that cannot be, in a sentence. */
export function commandOf(
  input: Exclude<DebugInput, { kind: "cancel" | "help" | "unclear" }>,
  state: RunState,
  roles: readonly RoleDefinition[],
): RunCommand | string {
  switch (input.kind) {
    case "skip":
    case "retry":
    case "next": {
      const activation_id = state.nodes[input.node]?.activation;
      if (activation_id === undefined) return `Nothing of “${input.node}” has come up in this run.`;
      if (input.kind === "next")
        return Object.hasOwn(state.graph.nodes, input.to)
          ? { kind: "override_next", activation_id, to: input.to }
          : { kind: "override_agent", activation_id, agent_id: input.to };
      return input.kind === "skip"
        ? { kind: "skip_node", activation_id, output: input.output }
        : { kind: "retry_node", activation_id };
    }
    case "inject": {
      const { target } = input;
      const named = "agent_id" in target ? target.agent_id : "";
      return Object.hasOwn(state.graph.nodes, named) ? { ...input, target: { node_id: named } } : input;
    }
    case "team":
      return teamCommand(input.edit, state, roles);
    default:
      return input;
  }
}

function teamCommand(edit: TeamEdit, state: RunState, roles: readonly RoleDefinition[]): RunCommand | string {
  const crews = Object.values(state.graph.nodes).filter((node) => isCrewNode(node));
  const open = crews.find(({ id }) => state.crews[state.nodes[id]?.activation ?? ""]?.status === "running");
  const node = open ?? (crews.length === 1 ? crews[0] : undefined);
  if (!node) return crews.length === 0 ? "This workflow has no crew." : "None of its crews is at work.";
  const role = edit.kind === "add" && roles.find(({ name }) => name === edit.role_name);
  return { kind: "edit_team", node_id: node.id, edit, ...(role ? { role } : {}) };
}
