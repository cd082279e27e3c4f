import { defined } from "@/server/domain/base/defined";
import { isObject, recordOf } from "@/server/domain/base/guards";
import { asJson, canonicalJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { DifferenceKind, RunDifference } from "@/server/domain/run/bisect/report";
import type { RunEventOf } from "@/server/domain/run/events";
import type { RetracedAnswer } from "../replay/retrace";
import { hashOf, madeUpNames, newNamelessText } from "./names";
import { isLookUp } from "./on-record";
import type { Recording } from "./recording";

type Creation = RunEventOf<"run_created">["payload"];

/** An answer by what it answers: the hash of the question, and which time it was asked, from 0. */
interface AnswerPlace {
  asked: string;
  time: number;
}

/** Something that two runs had otherwise, with what tells a replay to take it from one of them. */
export interface Difference extends RunDifference {
  /** For a part of the initial data: its fields in `run_created`; empty for the start time. */
  fields?: readonly (keyof Creation)[];
  place?: AnswerPlace;
}

/** The answers of a run by what was asked, each in the order in which it was asked again. */
type Answers = ReadonlyMap<string, readonly RetracedAnswer[]>;

export interface Both {
  good: Recording;
  bad: Recording;
  answers: { good: Answers; bad: Answers };
  /** Hash of the request: equal for runs that ask the same. */
  hash(wanted: Pick<RetracedAnswer, "key" | "kind" | "asked">): string;
  /** The differences: initial data first, then answers in the order of the good run. */
  differences: Difference[];
}

/** Aligns two runs. */
export function both(good: Recording, bad: Recording): Both {
  const values = [...good.answers, ...bad.answers].map(({ result }) => valueOf(result));
  const text = newNamelessText(madeUpNames(values));
  const hash: Both["hash"] = ({ key, kind, asked }) =>
    // A question is this node's, at this time; of tools that there are it is only known who looked.
    hashOf(text([kind, kind === "model" || kind === "tool" || kind === "run" ? null : key, asked]));
  const byAsked = ({ answers }: Recording): Map<string, RetracedAnswer[]> => {
    const found = new Map<string, RetracedAnswer[]>();
    for (const answer of answers.toSorted((a, b) => a.order - b.order)) {
      const asked = hash(answer);
      found.set(asked, [...(found.get(asked) ?? []), answer]);
    }
    return found;
  };
  const answers = { good: byAsked(good), bad: byAsked(bad) };
  return {
    good,
    bad,
    answers,
    hash,
    differences: [...creationDifferences(good, bad), ...answeredOtherwise({ good, answers, hash }, text)],
  };
}

const valueOf = (result: RetracedAnswer["result"]): Json =>
  result === null ? null : result.ok ? result.value : asJson(result.error);

const PARTS: readonly [DifferenceKind, string, readonly (keyof Creation)[]][] = [
  ["drawing", "Workflow", ["graph"]],
  ["roles", "Roles", ["roles"]],
  [
    "settings",
    "Run settings",
    ["config", "installation", "past_work", "people", "context_windows", "edition", "variables"],
  ],
  ["input", "Input", ["input"]],
  ["edits", "Manual edits and pins", ["forks", "pins", "repeats"]],
];

function creationDifferences(good: Recording, bad: Recording): Difference[] {
  const [a, b] = [good.created.payload, bad.created.payload];
  const parts = PARTS.flatMap(([kind, title, fields]): Difference[] => {
    const [one, other] = [a, b].map((payload) =>
      canonicalJson(fields.map((field) => payload[field] ?? null)),
    );
    if (one === other || (kind === "drawing" && isSameDrawing(a.graph, b.graph))) return [];
    return [{ kind, title, fields, ...describeDifference(kind, a, b) }];
  });
  // Nobody reads the time where no expression asks for it.
  const readsTime = [a, b].some(({ graph }) => /\bnow\b/.test(JSON.stringify(graph)));
  const time: Difference = {
    kind: "time",
    title: "Start time",
    good: new Date(good.begunAt).toISOString(),
    bad: new Date(bad.begunAt).toISOString(),
  };
  return [...(readsTime ? [time] : []), ...parts];
}

function describeDifference(
  kind: DifferenceKind,
  a: Creation,
  b: Creation,
): Pick<RunDifference, "good" | "bad"> {
  if (kind === "drawing") return describeGraphs(a.graph, b.graph);
  if (kind !== "input") return { good: null, bad: null };
  return { good: shown(a.input), bad: shown(b.input) };
}

const withoutPlace = ({ ui: _place, ...node }: WorkflowGraph["nodes"][string]) => node;
const drawn = ({ nodes, edges, ...rest }: WorkflowGraph) =>
  canonicalJson({
    ...rest,
    nodes: Object.values(nodes).map(withoutPlace),
    edges: edges.map(({ ui: _way, ...edge }: WorkflowGraph["edges"][number] & { ui?: unknown }) => edge),
  });
const isSameDrawing = (a: WorkflowGraph, b: WorkflowGraph) => drawn(a) === drawn(b);

/** The nodes that are other, or only in one of the two. */
function describeGraphs(a: WorkflowGraph, b: WorkflowGraph): Pick<RunDifference, "good" | "bad"> {
  const describeNodes = (one: WorkflowGraph, other: WorkflowGraph) => {
    const names = Object.values(one.nodes)
      .filter(({ id }) => {
        const [mine, theirs] = [one.nodes[id], other.nodes[id]];
        return !mine || !theirs || canonicalJson(withoutPlace(mine)) !== canonicalJson(withoutPlace(theirs));
      })
      .map(({ id, name }) => name || id);
    return names.length > 0 ? cut(`differs: ${names.join(", ")}`) : "connections differ";
  };
  return { good: describeNodes(a, b), bad: describeNodes(b, a) };
}

function answeredOtherwise(
  { good, answers, hash }: Omit<Both, "bad" | "differences">,
  text: (value: Json) => string,
): Difference[] {
  return good.answers.flatMap((one): Difference[] => {
    const asked = hash(one);
    const time = answers.good.get(asked)?.indexOf(one) ?? 0;
    const other = answers.bad.get(asked)?.[time];
    if (!isOutside(one) || !other || text(valueOf(one.result)) === text(valueOf(other.result))) return [];
    const { node_id, activation_id } = placeOf(one, good);
    return [
      {
        kind:
          one.kind === "step" || one.kind === "time" ? "installed" : one.kind === "run" ? "tool" : one.kind,
        title: titleOf(one, nameOf(good.created.payload.graph, node_id)),
        ...defined({ node_id, activation_id }),
        good: describeAnswer(one),
        bad: describeAnswer(other),
        ...defined({
          good_seq: one.event ? one.event.seq : undefined,
          bad_seq: other.event ? other.event.seq : undefined,
        }),
        place: { asked, time },
      },
    ];
  });
}

/** What a replay takes from a record; code runs once more, and times are as they were. */
const isOutside = ({ kind, key }: RetracedAnswer) => kind !== "time" && (kind !== "step" || isLookUp(key));

/** Keys of steps begin with their activation: node#k/attempt/… */
function placeOf({ key, event }: RetracedAnswer, { created }: Recording) {
  const local = key.startsWith("answer:") ? key.slice("answer:".length) : key;
  const activation_id = /^(.+?#\d+)\//.exec(local)?.[1] ?? event?.activation_id;
  const node_id = activation_id?.slice(0, activation_id.lastIndexOf("#"));
  return node_id !== undefined && created.payload.graph.nodes[node_id] ? { node_id, activation_id } : {};
}

const nameOf = ({ nodes }: WorkflowGraph, id: string | undefined) =>
  id === undefined ? "the run" : nodes[id]?.name || id;

function titleOf({ kind, asked }: RetracedAnswer, where: string): string {
  const { tool } = recordOf(asked);
  if (kind === "model") return `Model response in ${where}`;
  if (kind === "run") return `Result of the workflow run by ${where}`;
  if (kind === "tool") return `Result of ${typeof tool === "string" ? tool : "a tool"} in ${where}`;
  return kind === "person" ? `Person's answer in ${where}` : `Available tools for ${where}`;
}

function describeAnswer({ kind, result }: RetracedAnswer): string | null {
  if (result === null) return null;
  if (!result.ok) return cut(`It failed: ${result.error.message}`);
  const value = isObject(result.value) ? result.value : null;
  if (kind === "model" && value) {
    const calls = Array.isArray(value.tool_calls) ? shown(value.tool_calls) : "";
    return [typeof value.content === "string" ? cut(value.content) : "", calls].filter(Boolean).join(" ");
  }
  if (kind === "tool" && value) return shown(value.output ?? value.error ?? null);
  if (kind === "person" && value) {
    const { answer = null, option, value: given, message } = value;
    return [option ?? answer, given, message]
      .flatMap((part) => (part === undefined ? [] : shown(part)))
      .join(" ");
  }
  return shown(result.value);
}

const shown = (value: Json) => cut(typeof value === "string" ? value : canonicalJson(value));
const cut = (text: string) => (text.length <= 400 ? text : `${text.slice(0, 399)}…`);
