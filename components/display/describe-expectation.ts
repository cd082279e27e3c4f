import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import type { Json } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { formatDollars } from "@/server/domain/model/cost";
import { isExecutable } from "@/server/domain/nodes";
import type { Expectation, ExpectationKind, ExpectationOf } from "@/server/domain/scenario/expectation";
import { countOf, formatList } from "./format";

export const KINDS: Readonly<Record<ExpectationKind, { label: string; hint: string }>> = {
  status: { label: "Status", hint: "How the run ends" },
  path: { label: "Path", hint: "Which nodes run, and in what order" },
  visits: { label: "Visits", hint: "How often a node runs" },
  state: { label: "Condition", hint: "Checks the final state and output" },
  text: { label: "Value", hint: "Value of a state or output key" },
  questions: { label: "Questions", hint: "Which nodes ask questions" },
  tools: { label: "Tool calls", hint: "Whether a tool is called" },
  cost: { label: "Cost", hint: "Maximum cost" },
  tokens: { label: "Tokens", hint: "Maximum number of tokens" },
  judge: { label: "Judge", hint: "A model scores a value against a rubric" },
};

const PATH_LABELS: Readonly<Record<ExpectationOf<"path">["mode"], string>> = {
  exactly: "Exactly",
  in_order: "In this order",
  visited: "Includes",
  never: "Never runs",
};
export const PATH_MODES = [
  { value: "exactly", label: "Exactly these", hint: "Only these nodes, in this order" },
  { value: "in_order", label: "In this order", hint: "Other nodes can run in between" },
  { value: "visited", label: "Each of these", hint: "In any order" },
  { value: "never", label: "None of these" },
] as const;

/** A short description of an expectation. */
export function describeExpectation(
  expectation: Expectation,
  { nodes }: Pick<WorkflowGraph, "nodes">,
): string {
  const nameOf = (id: string) => nodes[id]?.name || id;
  switch (expectation.kind) {
    case "status":
      return FINAL_STATUS_LABELS[expectation.is] + (expectation.reason ? `, ${expectation.reason}` : "");
    case "path":
      return `${PATH_LABELS[expectation.mode]}: ${expectation.nodes.map(nameOf).join(", ")}`;
    case "visits":
      return `${nameOf(expectation.node)} ${describeCount(expectation)}`;
    case "state":
      return expectation.when;
    case "cost":
      return `At most ${formatDollars(expectation.at_most_usd)}`;
    case "tokens":
      return `At most ${countOf(expectation.at_most, "token")}`;
    case "questions":
      return describeQuestions(expectation, nameOf);
    case "tools":
      return describeToolCalls(expectation, nameOf);
    case "text":
      return describeText(expectation);
    case "judge":
      return `${expectation.key ?? "Output"}: ${expectation.rubric}`;
  }
}

const times = (count: number) => (count === 1 ? "once" : `${count} times`);

function describeCount({ times: exactly, at_least, at_most }: ExpectationOf<"visits">): string {
  if (exactly !== undefined) return exactly === 0 ? "never runs" : `runs ${times(exactly)}`;
  const bounds = [
    ...(at_least === undefined ? [] : [`at least ${times(at_least)}`]),
    ...(at_most === undefined ? [] : [`at most ${times(at_most)}`]),
  ];
  return `runs ${bounds.join(" and ")}`;
}

function describeQuestions(
  { nodes, count }: ExpectationOf<"questions">,
  nameOf: (id: string) => string,
): string {
  if (nodes === undefined || nodes.length === 0)
    return count ? `${countOf(count, "question")} asked` : "No questions asked";
  const asked = `Asked by ${formatList(nodes.map(nameOf))}`;
  return count === undefined ? asked : `${asked}, ${countOf(count, "question")}`;
}

function describeToolCalls(
  { tool, called, node, args }: ExpectationOf<"tools">,
  nameOf: (id: string) => string,
): string {
  const often =
    typeof called === "number"
      ? called === 0
        ? "is never called"
        : `is called ${times(called)}`
      : called
        ? "is called"
        : "isn't called";
  return `${tool} ${often}${node === undefined ? "" : ` in ${nameOf(node)}`}${args ? ", with matching arguments" : ""}`;
}

function describeText({ key, contains, excludes, matches, equals, schema }: ExpectationOf<"text">): string {
  const parts = [
    ...(equals === undefined ? [] : [`is ${shortJson(equals)}`]),
    ...(contains === undefined ? [] : [`contains “${contains}”`]),
    ...(excludes === undefined ? [] : [`doesn't contain “${excludes}”`]),
    ...(matches === undefined ? [] : [`matches ${matches}`]),
    ...(schema === undefined ? [] : ["matches the schema"]),
  ];
  return `${key} ${parts.join(" and ")}`;
}

const LONGEST = 60;
const shortJson = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

/** The nodes that can run, as options. */
export const nodeChoices = ({ nodes }: Pick<WorkflowGraph, "nodes">) =>
  Object.values(nodes)
    .filter(isExecutable)
    .map(({ id, name }) => ({ value: id, label: name || id }));

/** A new expectation of a kind: complete if possible, otherwise to be filled in. */
export function newExpectation(kind: ExpectationKind, graph: Pick<WorkflowGraph, "nodes">): Expectation {
  const [first] = nodeChoices(graph);
  switch (kind) {
    case "status":
      return { kind, is: "COMPLETED" };
    case "path":
      return { kind, nodes: [], mode: "in_order" };
    case "visits":
      return { kind, node: first?.value ?? "", times: 1 };
    case "state":
      return { kind, when: "" };
    case "cost":
      return { kind, at_most_usd: 1 };
    case "tokens":
      return { kind, at_most: 10_000 };
    case "questions":
      return { kind, count: 0 };
    case "tools":
      return { kind, tool: "", called: true };
    case "text":
      return { kind, key: "", of: "state", contains: "" };
    case "judge":
      return { kind, rubric: "", of: "state", threshold: 0.7, gate_kappa: 0.6 };
  }
}
