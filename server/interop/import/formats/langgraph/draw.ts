import type { Findings } from "@/server/domain/base/lenient-reader";
import { Drawing } from "../../drawing";
import { type Imported, nothingImported } from "../../format";
import { END, type GraphEdge, type LangGraph, START, withoutMarks } from "./model";

/** Draws a graph: a step for each node, for people to fill, and a router where something decides. */
export function drawLangGraph(graph: LangGraph, findings: Findings, here: Findings): Imported {
  const { name, nodes, edges } = withoutMarks(graph);
  const drawing = new Drawing(name, findings);
  const start = drawing.start([{ key: "input", title: "Input", description: "What the graph is given." }]);
  const ids = new Map<string, string>([[START, start]]);
  for (const node of nodes) {
    if (node.id === START || node.id === END) continue;
    ids.set(
      node.id,
      drawing.placeholder(node.name || node.id, {
        name: node.name || node.id,
        original: "",
        why: "The file names this step and does not say what it does.",
        at: node.at,
        findings: here,
        node: { output_keys: [drawing.keyFor(node.name || node.id)] },
      }),
    );
  }
  const known = edges.filter(({ from, to }) => {
    const missing = [from, to].find((id) => id !== END && !ids.has(id));
    if (missing !== undefined)
      here.dropped("edges", `The edge from "${from}" to "${to}" was left out: there is no "${missing}".`);
    return missing === undefined;
  });
  if (known.length === 0 && ids.size === 1) {
    here.error("", "The graph has no steps.");
    return nothingImported(name);
  }
  const end = drawing.end();
  ids.set(END, end);
  for (const [from, id] of ids)
    leadOn(
      from,
      id,
      known.filter((edge) => edge.from === from),
      { drawing, ids, here },
    );
  if (!drawing.isReached(end))
    for (const id of ids.values()) if (id !== end && !drawing.leadsOn(id)) drawing.edge(id, end);
  here.info(
    "",
    "Files of LangGraph hold no prompts and no tools: they stay in the code. Choose a role for each step and say what it does.",
  );
  return { ...nothingImported(name), graph: drawing.finish() };
}

interface Drawn {
  drawing: Drawing;
  ids: ReadonlyMap<string, string>;
  here: Findings;
}

/** The ways on from a node: plain edges, or a router where one of them depends on something. */
function leadOn(from: string, id: string, edges: readonly GraphEdge[], { drawing, ids, here }: Drawn): void {
  const to = (edge: GraphEdge) => ids.get(edge.to) ?? id;
  const conditional = edges.filter(({ isConditional }) => isConditional);
  const plain = edges.filter(({ isConditional }) => !isConditional);
  const [only] = conditional;
  if (!only) {
    for (const edge of plain) drawing.edge(id, to(edge));
    return;
  }
  if (edges.length === 1) {
    here.changed(
      "edges",
      `"${from}" decides where to go on, and the file names only "${only.to}": it always goes there now.`,
    );
    drawing.edge(id, to(only));
    return;
  }
  const decides = conditional.find((edge) => edge.decides)?.decides ?? null;
  const labels = new Map(conditional.map((edge) => [edge, labelOf(edge)]));
  const [usual] = plain;
  const router = drawing.add(decides ?? `after_${from}`, {
    node_type: "conditional_router",
    name: decides ?? (from === START ? "Where to begin" : `After ${from}`),
    config: {
      kind: "expression",
      conditions: [...new Set(labels.values())].map((label) => ({ label, when: "" })),
      ...(usual ? { default_label: OTHERWISE } : {}),
    },
  });
  drawing.edge(id, router);
  for (const [edge, label] of labels) drawing.edge(router, to(edge), { label });
  if (usual) {
    drawing.edge(router, to(usual), { label: OTHERWISE, isDefault: true });
    here.changed(
      "edges",
      `"${from}" leads to "${usual.to}" always and to others sometimes; "${usual.to}" is where it goes otherwise now.`,
      router,
    );
    for (const more of plain.slice(1)) drawing.edge(id, to(more));
  }
  here.placeholder(
    "edges",
    `What decides after "${from}"${decides ? ` (${decides})` : ""} is code, which the file does not hold. Write the conditions at the router, or let a model decide; the workflow cannot run until then.`,
    router,
  );
}

const OTHERWISE = "otherwise";
const labelOf = ({ label, to }: GraphEdge): string =>
  (label ?? (to === END ? "end" : to)).slice(0, 200) || "next";
