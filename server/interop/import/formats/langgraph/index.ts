import { defined } from "@/server/domain/base/defined";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import {
  claimEach,
  type Imported,
  nothingImported,
  type ReadableFormat,
  type Reading,
  type Sureness,
} from "../../format";
import { type Source, titleOf } from "../../source";
import { rawsOf } from "../../values";
import { drawLangGraph } from "./draw";
import { mermaidIn, readMermaid } from "./mermaid";
import { END, type GraphEdge, type GraphNode, START, stopsOf } from "./model";

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";
const nameOf = (source: Source): string => titleOf(source) || "Imported graph";

/** A format of one file each. */
const format = (
  id: string,
  label: string,
  sureness: (source: Source) => Sureness | null,
  read: (source: Source, reading: Reading) => Imported,
): ReadableFormat => ({
  id,
  label,
  recognise: claimEach(sureness),
  read: (reading) => (reading.claim.files[0] ? read(reading.claim.files[0], reading) : nothingImported()),
});

/** What `graph.get_graph().to_json()` gives. */
const json = format(
  "langgraph-json",
  "a LangGraph graph (to_json)",
  ({ value }) => {
    if (!isRaw(value) || !Array.isArray(value.nodes) || !Array.isArray(value.edges)) return null;
    const nodes = rawsOf(value.nodes);
    const ends = rawsOf(value.edges).every((edge) => "source" in edge && "target" in edge);
    if (!ends || nodes.length === 0) return null;
    if (nodes.some(({ id }) => id === START || id === END)) return 3;
    return nodes.every(
      ({ type, data }) => /^(runnable|schema|unknown)$/.test(textOf(type)) && data !== undefined,
    )
      ? 2
      : null;
  },
  (source, { findings, work }) => {
    const value: Raw = isRaw(source.value) ? source.value : {};
    const nodes = rawsOf(value.nodes).map((node, at): GraphNode => {
      const data = isRaw(node.data) ? textOf(node.data.name) : textOf(node.data);
      return {
        id: textOf(node.id),
        name: /^\d+$|^[0-9a-f-]{32,36}$/.test(textOf(node.id)) ? data || textOf(node.id) : textOf(node.id),
        at: `nodes.${at}`,
        stops: stopsOf(isRaw(node.metadata) ? textOf(node.metadata.__interrupt) : ""),
      };
    });
    const edges = rawsOf(value.edges).map(
      (edge): GraphEdge => ({
        from: textOf(edge.source),
        to: textOf(edge.target),
        isConditional: edge.conditional === true || /^true$/i.test(textOf(edge.conditional)),
        label: textOf(edge.data).trim() || null,
        decides: null,
      }),
    );
    return drawLangGraph(
      { name: nameOf(source), nodes, edges },
      { findings, report: source.on(findings), work },
    );
  },
);

/** What `graph.get_graph().draw_mermaid()` gives. */
const mermaid = format(
  "langgraph-mermaid",
  "a LangGraph graph (draw_mermaid)",
  ({ text }) => (mermaidIn(text) === null ? null : 3),
  (source, { findings, work }) => {
    const diagram = mermaidIn(source.text) ?? "";
    const before = source.text.slice(0, Math.max(0, source.text.indexOf(diagram))).split("\n").length;
    const report = findings.of((at) => ({
      ...defined({ file: source.path || undefined }),
      ...(/^\d+$/.test(at) ? { at: `line ${Number(at) + before}`, line: Number(at) + before } : {}),
    }));
    const { nodes, edges, unread } = readMermaid(diagram);
    for (const at of unread)
      report.dropped(String(at), "Skipped a line of the diagram that couldn't be parsed.");
    return drawLangGraph({ name: nameOf(source), nodes, edges }, { findings, report, work });
  },
);

/** The YAML from which langgraph-gen writes code. */
const yaml = format(
  "langgraph-gen",
  "a langgraph-gen graph",
  ({ value }) => {
    if (!isRaw(value) || !Array.isArray(value.nodes) || !Array.isArray(value.edges)) return null;
    const isOurs =
      rawsOf(value.nodes).every(({ name }) => textOf(name) !== "") &&
      rawsOf(value.edges).length > 0 &&
      rawsOf(value.edges).every((edge) => "from" in edge && ("to" in edge || "paths" in edge));
    if (!isOurs) return null;
    const isNamed =
      "entrypoint" in value ||
      rawsOf(value.edges).some((edge) => edge.from === START || edge.to === END || "paths" in edge);
    return isNamed ? 3 : 1;
  },
  (source, { findings, work }) => {
    const value: Raw = isRaw(source.value) ? source.value : {};
    const nodes = rawsOf(value.nodes).map(
      (node, at): GraphNode => ({
        id: textOf(node.name),
        name: textOf(node.name),
        at: `nodes.${at}`,
        stops: [],
      }),
    );
    const edges = rawsOf(value.edges).flatMap((edge): GraphEdge[] => {
      const from = textOf(edge.from);
      if (!("paths" in edge))
        return [{ from, to: textOf(edge.to), isConditional: false, label: null, decides: null }];
      const paths: [label: string | null, to: string][] = Array.isArray(edge.paths)
        ? edge.paths.map((to) => [null, textOf(to)])
        : isRaw(edge.paths)
          ? Object.entries(edge.paths).map(([label, to]) => [label, textOf(to)])
          : [];
      const decides = textOf(edge.condition) || null;
      return paths.map(([label, to]) => ({ from, to, isConditional: true, label, decides }));
    });
    const first = textOf(value.entrypoint);
    if (first && !edges.some(({ from }) => from === START))
      edges.unshift({ from: START, to: first, isConditional: false, label: null, decides: null });
    return drawLangGraph(
      { name: textOf(value.name) || nameOf(source), nodes, edges },
      { findings, report: source.on(findings), work },
    );
  },
);

export const LANGGRAPH: readonly ReadableFormat[] = [json, mermaid, yaml];
