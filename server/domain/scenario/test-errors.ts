import { describeUnchecked } from "@/server/domain/agent/unchecked";
import { errorMessage } from "@/server/domain/base/guards";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields, isStartNode } from "@/server/domain/graph/run-input";
import { findNodeKind, isExecutable, writtenKeys } from "@/server/domain/nodes";
import { REPEATED } from "@/server/domain/nodes/end";
import { compileRegex } from "@/server/domain/regex/regex";
import type { ControlCommand } from "@/server/domain/run/commands/repeated";
import { checkExpression } from "@/server/domain/text/expression/expression";
import { CASSETTE_LIMITS } from "./cassette";
import type { Expectation } from "./expectation";
import type { ScenarioFields } from "./scenario-test";

/** An error of a test for this workflow. */
export interface TestError {
  /** Where in the test: "input", "pins.draft", "people.0", "expect.2". */
  at: string;
  /** How `message` begins outside of that place: "Expectation 3: ". */
  lead: string;
  message: string;
}

/**
 * The errors of a test for a workflow; empty if it can be run. An expectation of a missing node or key could never fail, so
 * a test with one is not run.
 */
export function testErrors(graph: WorkflowGraph, test: ScenarioFields): TestError[] {
  const keys = keysOf(graph, test.input);
  const at = (place: string, lead: string, messages: readonly string[]): TestError[] =>
    messages.map((message) => ({ at: place, lead, message }));
  return [
    ...findInputErrors(graph, test.input).flatMap(({ key, message }) =>
      at("input", "The input is invalid: ", [`${key}: ${message}`]),
    ),
    ...Object.keys(test.pins ?? {}).flatMap((id) => at(`pins.${id}`, "", pinErrors(graph, id))),
    ...test.people.flatMap(({ node_id }, k) =>
      at(`people.${k}`, `People's answer ${k + 1} `, node_id === undefined ? [] : nodeErrors(graph, node_id)),
    ),
    ...(test.commands ?? []).flatMap(({ command }, k) =>
      at(
        `commands.${k}`,
        `Command ${k + 1} `,
        nodesOf(command).flatMap((id) => nodeErrors(graph, id)),
      ),
    ),
    ...test.expect.flatMap((expectation, k) =>
      at(`expect.${k}`, `Expectation ${k + 1}: `, expectationErrors(graph, keys, expectation)),
    ),
    ...at("answers", "", cassetteErrors(test)),
  ];
}

/** The same as sentences. */
export const testErrorTexts = (graph: WorkflowGraph, test: ScenarioFields): string[] =>
  testErrors(graph, test).map(({ lead, message }) => lead + message);

/** The keys that the state of a run may have. */
function keysOf(graph: WorkflowGraph, input: JsonObject): ReadonlySet<string> {
  const written = [
    ...Object.keys(stateProperties(graph)),
    ...inputFields(graph).map(({ key }) => key),
    ...Object.keys(input),
    ...Object.values(graph.nodes).flatMap((node) => writtenKeys(node)),
  ];
  // End nodes write their output under a second key, too.
  return new Set([...written, ...written.map((key) => `${REPEATED}${key}`.slice(0, 64))]);
}

const nodeErrors = (graph: WorkflowGraph, id: string): string[] => {
  const node = graph.nodes[id];
  if (!node) return [`refers to the node ${id}, which this workflow doesn't have.`];
  return isExecutable(node) ? [] : [`refers to ${node.name || id}, which never runs.`];
};

/** The nodes that a command names. */
function nodesOf(command: ControlCommand): string[] {
  const nodes = "activation_id" in command ? [command.activation_id.split("#", 1)[0] ?? ""] : [];
  if (command.kind === "override_next") return [...nodes, command.to];
  if (command.kind === "edit_team") return [command.node_id];
  return command.kind === "inject" && "node_id" in command.target ? [command.target.node_id] : nodes;
}

function pinErrors(graph: WorkflowGraph, id: string): string[] {
  const node = graph.nodes[id];
  if (!node) return [`Can't pin an output: there is no node ${id}.`];
  return findNodeKind(node.node_type)?.ends || isStartNode(node)
    ? [`${node.name || id} has no output to pin.`]
    : [];
}

function expectationErrors(
  graph: WorkflowGraph,
  keys: ReadonlySet<string>,
  expectation: Expectation,
): string[] {
  const nodes = (ids: readonly string[]) =>
    [...new Set(ids)].flatMap((id) => nodeErrors(graph, id).map((error) => `It ${error}`));
  const key = (name: string) =>
    keys.has(name) ? [] : [`It refers to the key ${name}, which no node writes.`];
  switch (expectation.kind) {
    case "path":
      return nodes(expectation.nodes);
    case "visits":
      return nodes([expectation.node]);
    case "questions":
      return nodes(expectation.nodes ?? []);
    case "tools":
      return [
        ...nodes(expectation.node === undefined ? [] : [expectation.node]),
        ...schemaErrors(expectation.args),
      ];
    case "state":
      return checkExpression(expectation.when, { result: "bool", keys: [...keys] }).map(
        ({ message }) => message,
      );
    case "text":
      return [
        ...key(expectation.key),
        ...patternErrors(expectation.matches),
        ...schemaErrors(expectation.schema),
      ];
    case "judge":
      return expectation.key === undefined ? [] : key(expectation.key);
    case "status":
    case "cost":
    case "tokens":
      return [];
  }
}

function patternErrors(pattern: string | undefined): string[] {
  if (pattern === undefined) return [];
  try {
    compileRegex(pattern);
    return [];
  } catch (error) {
    return [`The pattern ${pattern} is invalid: ${errorMessage(error)}.`];
  }
}

/** A keyword that is not checked could never fail. */
const schemaErrors = (schema: JsonSchema | undefined): string[] =>
  schema === undefined ? [] : describeUnchecked(schema).map((error) => `Its schema: ${error}`);

function cassetteErrors({ answers }: ScenarioFields): string[] {
  if (!answers) return [];
  if (JSON.stringify(answers).length > CASSETTE_LIMITS.chars)
    return ["Its recorded answers exceed 4 MiB, the maximum for a workflow."];
  const odd = answers.answers.findIndex(({ value, error }) => value !== undefined && error !== undefined);
  return odd === -1 ? [] : [`Recorded answer ${odd + 1} has both a value and an error.`];
}
