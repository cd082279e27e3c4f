import { trimmed } from "../../trimmed";
import { type GraphEdge, type GraphNode, START, stopsOf } from "./model";

const MOST_LINES = 5_000;
const FENCE = "```mermaid";

/** The text of a diagram that draw_mermaid() returns, also in a fence; null if there is none. */
export function mermaidIn(text: string): string | null {
  const blocks: string[] = [];
  for (let at = text.indexOf(FENCE); at >= 0; at = text.indexOf(FENCE, at)) {
    const from = text.indexOf("\n", at) + 1;
    const to = from === 0 ? -1 : text.indexOf("```", from);
    if (to < 0) break;
    blocks.push(text.slice(from, to));
    at = to + 3;
  }
  const all = blocks.length > 0 ? blocks : [text];
  return (
    all.find(
      (block) => /^[ \t]*(graph|flowchart)[ \t]+(TD|TB|LR|RL|BT)\b/m.test(block) && block.includes(START),
    ) ?? null
  );
}

/** Reads what leads where; `at` of a node is its line, from 0. */
export function readMermaid(text: string): { nodes: GraphNode[]; edges: GraphEdge[]; unread: number[] } {
  const nodes = new Map<string, GraphNode>();
  const edges: GraphEdge[] = [];
  const unread: number[] = [];
  const lines = text.split("\n").slice(0, MOST_LINES);
  let isHead = false;
  for (let next = 0; next < lines.length; next++) {
    const at = next;
    let raw = lines[at] ?? "";
    // What is known of a node has a line for each thing.
    if (raw.includes("<em>"))
      while (!raw.includes("</em>") && next + 1 < lines.length) raw += ` ${lines[++next]}`;
    const line = raw.trim().replace(/;$/, "").trim();
    if (line === "---") isHead = !isHead;
    if (isHead || line === "" || line === "---" || line === "end" || IGNORED.test(line)) continue;
    const edge = edgeOf(line);
    if (edge) {
      edges.push(edge);
      for (const id of [edge.from, edge.to])
        if (!nodes.has(id)) nodes.set(id, { id, name: nameOf(id), at: String(at), stops: [] });
      continue;
    }
    const declared = /^([^\s([{>]+)\s*([([{>].*)$/.exec(line);
    const [, id, shape] = declared ?? [];
    if (id === undefined || shape === undefined) unread.push(at);
    else {
      const name =
        plainText(trimmed(shape.replace(/:::\w+$/, ""), "([{>/\\\"'", ")]}/\\\"'")) || nameOf(decoded(id));
      const interrupt = /__interrupt = ([a-z,]+)/.exec(shape)?.[1] ?? "";
      nodes.set(decoded(id), { id: decoded(id), name, at: String(at), stops: stopsOf(interrupt) });
    }
  }
  return { nodes: [...nodes.values()], edges, unread };
}

const IGNORED =
  /^(%%|(config|flowchart|curve):|(graph|flowchart|subgraph|classDef|class|style|linkStyle|direction|click)\s)/;

/** `a --> b`, `a -.-> b`, `a -. words .-> b`, `a -- words --> b`, `a -->|words| b`. */
function edgeOf(line: string): GraphEdge | null {
  const arrow = /\s(-\.->|-->|-\.\s|--\s)/.exec(line);
  if (!arrow) return null;
  const from = line.slice(0, arrow.index).trim();
  const sign = (arrow[1] ?? "").trim();
  let rest = line.slice(arrow.index + arrow[0].length).trim();
  let label: string | null = null;
  if (sign === "-." || sign === "--") {
    const close = sign === "-." ? ".->" : "-->";
    const end = rest.lastIndexOf(close);
    if (end < 0) return null;
    label = plainText(rest.slice(0, end));
    rest = rest.slice(end + close.length).trim();
  } else if (rest.startsWith("|") && rest.indexOf("|", 1) > 0) {
    label = plainText(rest.slice(1, rest.indexOf("|", 1)));
    rest = rest.slice(rest.indexOf("|", 1) + 1).trim();
  }
  const plain = (id: string) => decoded((id.split(/[([{>]/, 1)[0] ?? "").replace(/:::\w+$/, ""));
  if (!from || !rest) return null;
  const isConditional = sign.startsWith("-.");
  return { from: plain(from), to: plain(rest), isConditional, label: label || null, decides: null };
}

/** Words without what Mermaid puts around them. */
const plainText = (text: string): string =>
  text
    .replace(/<hr\s*\/?>[\s\S]*$/i, "")
    .replace(/<[^<>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&amp;", "&")
    .replace(/^["']|["']$/g, "")
    .trim();

/** Ids without their escapes: a backslash and two hexadecimal digits stand for a sign. */
const decoded = (id: string): string =>
  id.replace(/\\([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const nameOf = (id: string): string => id.slice(id.lastIndexOf(":") + 1);
