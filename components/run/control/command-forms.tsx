import { History, MessageSquarePlus, Radio, Send, Signpost, SkipForward } from "lucide-react";
import type { ReactNode } from "react";
import { exitLabels } from "@/components/forms/ports";
import type { useTrpcClient } from "@/components/trpc";
import type { Choice, FormPart } from "@/server/domain/base/form";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import type { InstructionTarget } from "@/server/domain/run/commands/instructions";
import type { ReplayMode } from "@/server/domain/run/fork/lineage";
import { agentsOfNode } from "@/server/domain/run/node-agents";
import { DoingsNote, RecordedNote } from "../replay/recorded-note";

/** What a person chooses and writes for a command. */
export interface Entered {
  choice?: string;
  text?: string;
}

/** The dialog of a command to a run, as data. */
export interface CommandForm {
  title: string;
  description: string;
  /** The label of the button that sends it. */
  submit: string;
  icon: ReactNode;
  parts: readonly FormPart<Entered>[];
  initial: Entered;
  /** The state keys to ask for. */
  keys: readonly string[];
  /** Shown where there is nothing to enter. */
  nothing?: string;
  /** Shown above the fields, and below them. */
  before?: ReactNode;
  after?: (entered: Entered) => string;
  /** The error where the text is empty; absent: there is none, or it may be. */
  required?: string;
  send(client: ReturnType<typeof useTrpcClient>, entered: Entered, values: JsonObject): Promise<unknown>;
}

/** One execution of a node in a run. */
export interface NodeInRun {
  run_id: string;
  head: RunState;
  node: WorkflowNode;
  activation_id: string;
}

/** A command about a node, behind a button. */
export interface NodeCommand {
  label: string;
  icon: ReactNode;
  form: (node: NodeInRun) => CommandForm;
  /** Whether it applies while the run is running. */
  applies: (node: Omit<NodeInRun, "run_id">) => boolean;
}

/** The commands about a node, each with its button and its dialog. */
export const NODE_COMMANDS: readonly NodeCommand[] = [
  {
    label: "Send signal…",
    icon: <Radio aria-hidden />,
    form: signalForm,
    applies: (about) => !!signalOf(about.node) && isAhead(about),
  },
  {
    label: "Skip…",
    icon: <SkipForward aria-hidden />,
    form: skipForm,
    applies(about) {
      const { begins, ends } = getNodeKind(about.node.node_type);
      return !begins && !ends && isAhead(about);
    },
  },
  {
    label: "Message…",
    icon: <MessageSquarePlus aria-hidden />,
    form: ({ head, run_id, node }) => instructForm(head.graph, run_id, node.id),
    applies: ({ node }) => agentsOfNode(node).length > 0,
  },
  {
    label: "Override next…",
    icon: <Signpost aria-hidden />,
    form: nextForm,
    // Where only one edge leads on there is nothing to choose, but in a crew.
    applies(about) {
      const { head, node, activation_id } = about;
      const { run, activations, crews, graph } = head;
      const isPausedAfter = run.paused_at !== undefined && activations[activation_id]?.status === "completed";
      const hasCrew = crews[activation_id]?.status === "running" && isAhead(about);
      return (isAhead(about) || isPausedAfter) && (successorsOf(graph, node.id).length > 1 || hasCrew);
    },
  },
];

/** Whether a node has yet to end. */
export function isAhead({ head, activation_id }: Pick<NodeInRun, "head" | "activation_id">): boolean {
  const status = head.activations[activation_id]?.status;
  return status === "ready" || status === "running" || status === "waiting";
}

const signalOf = ({ node_type, config }: WorkflowNode) => getNodeKind(node_type).signal?.(config);

function signalForm({ run_id, head: { graph }, node }: NodeInRun): CommandForm {
  const name = signalOf(node) ?? "";
  const waiting = Object.values(graph.nodes).filter((other) => signalOf(other) === name);
  const keys = [...new Set(waiting.flatMap(({ output_keys }) => output_keys))];
  return {
    title: `Send signal “${name}”`,
    description:
      "Nodes waiting for this signal continue with this data. If none is waiting, the first one to wait receives it.",
    submit: "Send",
    icon: <Radio aria-hidden />,
    parts: [],
    initial: {},
    keys,
    nothing: "This signal carries no data.",
    send: (client, _entered, values) =>
      client.runs.signal.mutate({ run_id, name, data: keys.length === 0 ? null : values }),
  };
}

function skipForm({ run_id, head: { graph }, node, activation_id }: NodeInRun): CommandForm {
  const labels = getNodeKind(node.node_type).routes ? exitLabels(graph, node.id) : [];
  const options = labels.map((value) => ({ value, label: value }));
  return {
    title: `Skip ${node.name || node.id}`,
    description: "The node won't run. The run continues with this output.",
    submit: "Skip node",
    icon: <SkipForward aria-hidden />,
    parts: labels.length > 0 ? [{ key: "choice", label: "Route", as: "choice", options }] : [],
    initial: labels[0] === undefined ? {} : { choice: labels[0] },
    keys: node.output_keys,
    nothing: "This node has no output.",
    send: (client, { choice }, output) =>
      client.runs.skip.mutate({ run_id, activation_id, output, ...(choice && { labels: [choice] }) }),
  };
}

/** The nodes that edges lead to from a node, each once. */
const successorsOf = ({ nodes, edges }: WorkflowGraph, id: string): WorkflowNode[] => {
  const targets = edges.filter(({ source_node_id, kind }) => source_node_id === id && kind !== "error");
  return [...new Set(targets.map((edge) => edge.target_node_id))].flatMap((target) => nodes[target] ?? []);
};

const nodeChoice = ({ id, name }: WorkflowNode): Choice => ({
  value: `node ${id}`,
  label: name || id,
  hint: "Node",
});
const idOf = (choice: string) => choice.slice(choice.indexOf(" ") + 1);

function nextForm({ run_id, head, node, activation_id }: NodeInRun): CommandForm {
  const members = head.crews[activation_id]?.members ?? [];
  const options = [
    ...successorsOf(head.graph, node.id).map(nodeChoice),
    ...members.map(({ agent_id, role_name }) => ({
      value: `agent ${agent_id}`,
      label: agent_id,
      hint: `Agent, ${role_name}`,
    })),
  ];
  return {
    title: `Override next after ${node.name || node.id}`,
    description: "The run continues with this node or agent instead of the one it would choose.",
    submit: "Override next",
    icon: <Signpost aria-hidden />,
    parts: [{ key: "choice", label: "Next", as: "choice", options }],
    initial: options[0] ? { choice: options[0].value } : {},
    keys: [],
    send(client, { choice = "" }) {
      const id = idOf(choice);
      const next = choice.startsWith("agent ") ? { agent_id: id } : { to: id };
      return client.runs.override.mutate({ run_id, activation_id, ...next });
    },
  };
}

/** Everybody, each node that asks a model, and each agent that is not all of its node. */
export function instructForm({ nodes }: WorkflowGraph, run_id: string, node_id?: string): CommandForm {
  const asking = Object.values(nodes).filter((node) => agentsOfNode(node).length > 0);
  const agents = new Set(asking.flatMap((node) => (agentsOfNode(node).length > 1 ? agentsOfNode(node) : [])));
  const options = [
    { value: "run", label: "All agents" },
    ...asking.map(nodeChoice),
    ...[...agents].map((id) => ({ value: `agent ${id}`, label: id, hint: "Agent" })),
  ];
  return {
    title: "Message agents",
    description:
      "Agents see this message from their next model call until the run ends. Responses being generated are requested again.",
    submit: "Send",
    icon: <Send aria-hidden />,
    parts: [
      { key: "choice", label: "To", as: "choice", options },
      { key: "text", label: "Message", as: "multiline", lines: 4 },
    ],
    initial: { choice: node_id === undefined ? "run" : `node ${node_id}` },
    keys: [],
    required: "Enter a message.",
    send: (client, { choice = "run", text = "" }) =>
      client.runs.inject.mutate({ run_id, target: targetOf(choice), text }),
  };
}

function targetOf(choice: string): InstructionTarget {
  if (choice.startsWith("node ")) return { node_id: idOf(choice) };
  return choice.startsWith("agent ") ? { agent_id: idOf(choice) } : { run: true };
}

const REPLAY_MODES: Readonly<Record<ReplayMode, string>> = {
  strict: "No calls are made. The replay stops at the first unrecorded request and shows the difference.",
  lenient: "Asks you before each unrecorded request. Approved requests are real calls and may cost money.",
};

/** `show` opens the new run. */
export function replayForm(run_id: string, show: (runId: string) => void): CommandForm {
  const options = [
    { value: "strict", label: "Strict" },
    { value: "lenient", label: "Lenient" },
  ];
  const modeOf = ({ choice }: Entered): ReplayMode => (choice === "lenient" ? "lenient" : "strict");
  return {
    title: "Replay run",
    description:
      "Starts a new run of the same workflow version. Responses from models, tools and people come from the recording, at no cost. This run doesn't change.",
    submit: "Replay",
    icon: <History aria-hidden />,
    before: (
      <>
        <RecordedNote runId={run_id} before="replay" />
        <DoingsNote runId={run_id} as="replay" />
      </>
    ),
    parts: [{ key: "choice", label: "Missing responses", as: "choice", options }],
    initial: { choice: "strict" },
    keys: [],
    after: (entered) => REPLAY_MODES[modeOf(entered)],
    send: async (client, entered) =>
      show((await client.runs.replay.mutate({ run_id, mode: modeOf(entered) })).run_id),
  };
}
