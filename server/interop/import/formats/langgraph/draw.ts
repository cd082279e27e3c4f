import { defined } from "@/server/domain/base/defined";
import type { Findings } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import { Drawing } from "../../drawing";
import { type Imported, nothingImported } from "../../format";
import { END, type GraphEdge, type GraphNode, type LangGraph, START, withoutMarks } from "./model";

/** Draws a graph: a step for each node, for people to fill, and a router where something decides. */
export function drawLangGraph(
  graph: LangGraph,
  { findings, report, work }: { findings: Findings; report: Findings; work: Work },
): Imported {
  const { name, nodes, edges } = withoutMarks(graph, work);
  const drawing = new Drawing(name, findings);
  const start = drawing.start([{ key: "input", title: "Input", description: "The input for the graph." }]);
  const steps = new Map<string, Step>([[START, { entry: start, exit: start }]]);
  const gates: string[] = [];
  for (const node of nodes) {
    if (node.id === START || node.id === END) continue;
    const step = drawing.placeholder(node.name || node.id, {
      name: node.name || node.id,
      original: "",
      why: "The file names this step but doesn't describe it.",
      at: node.at,
      findings: report,
      node: { output_keys: [drawing.keyFor(node.name || node.id)] },
    });
    const [before, after] = (["before", "after"] as const).map((stop) =>
      node.stops.includes(stop) ? drawGate(node, stop, { drawing, report }) : null,
    );
    if (before) drawing.edge(before, step, { label: APPROVED });
    if (after) drawing.edge(step, after);
    gates.push(...[before, after].filter((gate) => gate !== null && gate !== undefined));
    steps.set(node.id, {
      entry: before ?? step,
      exit: after ?? step,
      ...defined({ label: after ? APPROVED : undefined }),
    });
  }
  const known = edges.filter(({ from, to }) => {
    const missing = [from, to].find((id) => id !== END && !steps.has(id));
    if (missing !== undefined)
      report.dropped("edges", `The edge from "${from}" to "${to}" was left out: "${missing}" doesn't exist.`);
    return missing === undefined;
  });
  if (known.length === 0 && steps.size === 1) {
    report.error("", "The graph has no steps.");
    return nothingImported(name);
  }
  const end = drawing.end();
  steps.set(END, { entry: end, exit: end });
  const edgesFrom = new Map<string, GraphEdge[]>([...steps.keys()].map((id) => [id, []]));
  for (const edge of known) edgesFrom.get(edge.from)?.push(edge);
  for (const [from, step] of steps) leadOn(from, step, edgesFrom.get(from) ?? [], { drawing, steps, report });
  if (!drawing.isReached(end))
    for (const step of steps.values())
      if (step.exit !== end && !drawing.leadsOn(step.exit)) drawing.edge(step.exit, end, step);
  for (const gate of gates) drawing.edge(gate, end, { label: REJECTED });
  report.info(
    "",
    "LangGraph files have no prompts or tools: those stay in the code. Choose a role for each step and describe its task.",
  );
  return { ...nothingImported(name), graph: drawing.finish() };
}

const [APPROVED, REJECTED] = ["approved", "rejected"];

/** What a node became: where edges reach it, and where they leave it, with the label that they have there. */
interface Step {
  entry: string;
  exit: string;
  label?: string;
}
interface Drawn {
  drawing: Drawing;
  steps: ReadonlyMap<string, Step>;
  report: Findings;
}

/** A person's approval where the graph stops. */
function drawGate(
  { id, name, at }: GraphNode,
  stop: "before" | "after",
  { drawing, report }: Omit<Drawn, "steps">,
): string {
  const called = name || id;
  const gate = drawing.add(`${stop}_${called}`, {
    node_type: "approval_gate",
    name: `${stop === "before" ? "Before" : "After"} ${called}`,
    config: { options: [APPROVED, REJECTED] },
  });
  report.changed(
    at,
    `The graph pauses ${stop} "${called}" for a person. Now a person must approve there; otherwise, the run ends.`,
    gate,
  );
  return gate;
}

/** Connects a node to the next ones: plain edges, or a router if one of them is conditional. */
function leadOn(
  from: string,
  step: Step,
  edges: readonly GraphEdge[],
  { drawing, steps, report }: Drawn,
): void {
  const id = step.exit;
  const to = (edge: GraphEdge) => steps.get(edge.to)?.entry ?? id;
  const conditional = edges.filter(({ isConditional }) => isConditional);
  const plain = edges.filter(({ isConditional }) => !isConditional);
  const [only] = conditional;
  if (!only) {
    for (const edge of plain) drawing.edge(id, to(edge), step);
    return;
  }
  if (edges.length === 1) {
    report.changed(
      "edges",
      `"${from}" decides where to continue, but the file only names "${only.to}": it now always goes there.`,
    );
    drawing.edge(id, to(only), step);
    return;
  }
  const decides = conditional.find((edge) => edge.decides)?.decides ?? null;
  const labels = new Map(conditional.map((edge) => [edge, labelOf(edge)]));
  const [defaultEdge] = plain;
  const router = drawing.add(decides ?? `after_${from}`, {
    node_type: "conditional_router",
    name: decides ?? (from === START ? "Where to begin" : `After ${from}`),
    config: {
      kind: "expression",
      conditions: [...new Set(labels.values())].map((label) => ({ label, when: "" })),
      ...defined({ default_label: defaultEdge ? OTHERWISE : undefined }),
    },
  });
  drawing.edge(id, router, step);
  for (const [edge, label] of labels) drawing.edge(router, to(edge), { label });
  if (defaultEdge) {
    drawing.edge(router, to(defaultEdge), { label: OTHERWISE, isDefault: true });
    report.changed(
      "edges",
      `"${from}" always leads to "${defaultEdge.to}" and sometimes to others; "${defaultEdge.to}" is now its default route.`,
      router,
    );
    for (const more of plain.slice(1)) drawing.edge(id, to(more), step);
  }
  report.placeholder(
    "edges",
    `The code that chooses the route after "${from}"${decides ? ` (${decides})` : ""} isn't in the file. Write the conditions in the router, or let a model decide; the workflow can't run until then.`,
    router,
  );
}

const OTHERWISE = "otherwise";
const labelOf = ({ label, to }: GraphEdge): string =>
  (label ?? (to === END ? "end" : to)).slice(0, 200) || "next";
