import type { ProjectContext } from "@/server/domain/agent/project";
import { isList, isObject, listOf, recordOf } from "@/server/domain/base/guards";
import { StateKey } from "@/server/domain/base/values";
import {
  type Field,
  getNodeKind,
  routerKindOf,
  settingsOf,
  type WorkflowNode,
  withSettings,
} from "@/server/domain/nodes";
import type { WorkflowGraph } from "../graph";
import { stateProperties } from "../keys/state-properties";
import { renameRoute, routerRoutes } from "../router-routes";

/** Find and replace in a whole workflow. */

export type SiteSort = "plain" | "template" | "expression" | "label" | "key";

/** One text of a workflow, and how to replace it. */
export interface TextSite {
  at: { kind: "node" | "edge" | "workflow"; id?: string; field: string };
  /** What it is to a person, such as "Task". */
  title: string;
  sort: SiteSort;
  text: string;
  /** The workflow with this text replaced; unchanged if the new text is not allowed here. */
  write(graph: WorkflowGraph, text: string): WorkflowGraph;
}

export interface SearchOptions {
  /** Match case. */
  isExact?: boolean;
  /** Match whole words. */
  isWord?: boolean;
}

/** One place where the words stand. */
export interface Hit {
  /** The text's place among those of `textSites`. */
  site: number;
  at: TextSite["at"];
  title: string;
  text: string;
  from: number;
  to: number;
}

/** Every text of a workflow that people write, in graph order. */
export function textSites(graph: WorkflowGraph): TextSite[] {
  return [
    ...workflowSites(graph),
    ...Object.values(graph.nodes).flatMap((node) => nodeSites(graph, node)),
    ...edgeSites(graph),
  ];
}

/** All matches in the texts of a workflow. An empty query has none. */
export function findText(graph: WorkflowGraph, query: string, options: SearchOptions = {}): Hit[] {
  if (query === "") return [];
  return textSites(graph).flatMap(({ at, title, text }, site) =>
    placesOf(text, query, options).map((from) => ({ site, at, title, text, from, to: from + query.length })),
  );
}

/** Replaces these matches, which must come from this same workflow. */
export function replaceText(graph: WorkflowGraph, hits: readonly Hit[], replacement: string): WorkflowGraph {
  const sites = textSites(graph);
  const bySite = new Map<number, Hit[]>();
  for (const hit of hits) bySite.set(hit.site, [...(bySite.get(hit.site) ?? []), hit]);
  let next = graph;
  for (const [number, found] of bySite) {
    const site = sites[number];
    if (!site) continue;
    const text = found
      .toSorted((a, b) => b.from - a.from)
      .reduce((written, { from, to }) => written.slice(0, from) + replacement + written.slice(to), site.text);
    next = site.write(next, text);
  }
  return next;
}

function placesOf(text: string, query: string, { isExact, isWord }: SearchOptions): number[] {
  const fold = (written: string) => (isExact ? written : foldCase(written));
  const where = fold(text);
  const what = fold(query);
  const places: number[] = [];
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) {
    const isInside = /\w$/.test(where.slice(0, at)) || /^\w/.test(where.slice(at + what.length));
    if (!isWord || !isInside) places.push(at);
  }
  return places;
}

/** In small letters where that changes no length: places must stay what they are. */
const foldCase = (text: string) =>
  [...text].map((char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("");

function workflowSites(graph: WorkflowGraph): TextSite[] {
  return [
    {
      at: { kind: "workflow", field: "description" },
      title: "Workflow description",
      sort: "plain",
      text: graph.description ?? "",
      write: (drawn, text) => ({ ...drawn, description: text }),
    },
    ...projectSites(graph),
  ];
}

/** What is said of the project. */
function projectSites({ project_context: project }: WorkflowGraph): TextSite[] {
  if (!project) return [];
  const at = { kind: "workflow", field: "project_context" } as const;
  const site = (
    title: string,
    text: string,
    change: (now: ProjectContext, text: string) => ProjectContext,
  ) => ({
    at,
    title,
    sort: "plain" as const,
    text,
    write: (drawn: WorkflowGraph, next: string): WorkflowGraph =>
      drawn.project_context ? { ...drawn, project_context: change(drawn.project_context, next) } : drawn,
  });
  const lines = (field: "constraints" | "conventions", title: string) =>
    project[field].map((line, place) =>
      site(`${title} ${place + 1}`, line, (now, text) => ({ ...now, [field]: now[field].with(place, text) })),
    );
  return [
    site("Project name", project.project_name, (now, project_name) => ({ ...now, project_name })),
    site("Project context", project.description, (now, description) => ({ ...now, description })),
    ...lines("constraints", "Constraint"),
    ...lines("conventions", "Convention"),
  ].filter(({ text }) => text !== "");
}

function nodeSites(graph: WorkflowGraph, node: WorkflowNode): TextSite[] {
  const kind = getNodeKind(node.node_type);
  const { id } = node;
  const site = (
    field: string,
    title: string,
    sort: SiteSort,
    text: unknown,
    write: (node: WorkflowNode, text: string) => WorkflowNode | null,
  ): TextSite[] =>
    typeof text !== "string" || text === ""
      ? []
      : [
          {
            at: { kind: "node", id, field },
            title,
            sort,
            text,
            write(drawn, next) {
              const old = drawn.nodes[id];
              const written = old && write(old, next);
              return written ? { ...drawn, nodes: { ...drawn.nodes, [id]: written } } : drawn;
            },
          },
        ];
  const own = (field: "name" | "description" | "when", title: string, sort: SiteSort) =>
    site(field, title, sort, node[field], (old, text) => ({ ...old, [field]: text }));
  const keys = (field: "input_keys" | "optional_input_keys" | "output_keys", title: string) =>
    node[field].flatMap((key, at) =>
      site(field, title, "key", key, (old, text) =>
        isFreeKey(text, old[field], at) ? { ...old, [field]: old[field].with(at, text) } : null,
      ),
    );
  const config = (path: Path, title: string, sort: SiteSort) =>
    site(String(path[0]), title, sort, getIn(node.config, path), (old, text) => withConfig(old, path, text));
  const fields = kind.fields.flatMap((field: Field): TextSite[] => {
    const value = recordOf(node.config)[field.key];
    const sort = SORTS[field.as];
    if (sort) return config([field.key], field.label, sort);
    if (field.as === "assignments" || field.as === "pairs")
      return Object.keys(value ?? {}).flatMap((name) =>
        config(
          [field.key, name],
          `${field.label}: ${name}`,
          field.as === "pairs" ? "template" : "expression",
        ),
      );
    if (field.as === "plan") return planSites(value, config);
    if (field.as === "crew") return crewSites(value, config);
    // What JavaScript says of a key is for its author to follow.
    if (field.as === "own_rule")
      return config(
        [field.key, "source"],
        field.label,
        getIn(node.config, [field.key, "language"]) === "javascript" ? "plain" : "expression",
      );
    return field.as === "arguments" ? argumentSites(node, field, config) : [];
  });
  return [
    ...own("name", "Name", "plain"),
    ...fields,
    ...waySites(graph, node),
    ...own("description", "Description", "plain"),
    ...own("when", "Condition", "expression"),
    ...keys("input_keys", "Reads"),
    ...keys("optional_input_keys", "Optional inputs"),
    ...keys("output_keys", "Writes"),
    ...(["input_mapping", "output_mapping"] as const).flatMap((field) =>
      Object.entries(node[field] ?? {}).flatMap(([name, text]) =>
        site(field, `Mapping: ${name}`, "expression", text, (old, next) => ({
          ...old,
          [field]: { ...old[field], [name]: next },
        })),
      ),
    ),
  ];
}

/** Which fields are one text, and of what sort. */
const SORTS: Partial<Record<Field["as"], SiteSort>> = {
  text: "plain",
  multiline: "plain",
  code: "plain",
  template: "template",
  expression: "expression",
  value: "expression",
};

type Path = readonly (string | number)[];
type ConfigSite = (path: Path, title: string, sort: SiteSort) => TextSite[];

function planSites(plan: unknown, config: ConfigSite): TextSite[] {
  const tasks = listOf(recordOf(plan).tasks);
  return tasks.flatMap((_, at) => [
    ...config(["plan", "tasks", at, "description"], `Plan task ${at + 1}`, "template"),
    ...config(["plan", "tasks", at, "expected_output"], `Expected output of task ${at + 1}`, "plain"),
    ...config(["plan", "tasks", at, "condition"], `Condition of task ${at + 1}`, "expression"),
  ]);
}

/** What is said of the members of a crew, and of the steps of its patterns. */
function crewSites(crew: unknown, config: ConfigSite): TextSite[] {
  const { agents, collaboration_patterns: patterns } = recordOf(crew);
  return [
    ...listOf(agents).flatMap((agent, at) =>
      config(
        ["crew", "agents", at, "backstory"],
        `Backstory of ${String(recordOf(agent).agent_id)}`,
        "plain",
      ),
    ),
    ...listOf(patterns).flatMap((pattern, at) => {
      const steps = getIn(pattern, ["workflow"]);
      return (Array.isArray(steps) ? steps : []).flatMap((step: unknown, place) =>
        config(
          ["crew", "collaboration_patterns", at, "workflow", place, "description"],
          `Crew step ${nameIn(step) ?? place + 1}`,
          "plain",
        ),
      );
    }),
  ];
}

const nameIn = (step: unknown): string | null => {
  const name = getIn(step, ["step"]);
  return typeof name === "string" ? name : null;
};

/** An argument is a text, or an object that holds one; the kind itself says of which sort. */
function argumentSites(node: WorkflowNode, { key, label }: Field, config: ConfigSite): TextSite[] {
  const kind = getNodeKind(node.node_type);
  const expressions = new Set((kind.expressions?.(node.config) ?? []).map(({ field }) => field));
  return Object.entries(recordOf(recordOf(node.config)[key])).flatMap(([name, value]) => {
    const sort = expressions.has(`${key}.${name}`) ? "expression" : "template";
    const title = `${label}: ${name}`;
    if (typeof value === "string") return config([key, name], title, sort);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
    const inner = Object.entries(value).filter(([, text]) => typeof text === "string");
    return inner.length === 1 && inner[0] ? config([key, name, inner[0][0]], title, sort) : [];
  });
}

/** The ways of a router; another name for one takes its lines along. */
function waySites(graph: WorkflowGraph, node: WorkflowNode): TextSite[] {
  const { id } = node;
  const routes = routerRoutes(graph, id)?.routes ?? [];
  const isOpen = routerRoutes(graph, id)?.isOpen ?? false;
  const at = { kind: "node", id, field: "conditions" } as const;
  const { conditions = [] } = settingsOf(node);
  return [
    ...routes.map(
      ({ label }, place): TextSite => ({
        at,
        title: `Route ${place + 1}`,
        sort: "label",
        text: label,
        write: (drawn, text) => (isOpen ? renameRoute(drawn, id, label, text.trim()) : drawn),
      }),
    ),
    ...(routerKindOf(node) === "expression" ? conditions : []).map(
      ({ when }, place): TextSite => ({
        at,
        title: `Condition of route ${place + 1}`,
        sort: "expression",
        text: when,
        write(drawn, text) {
          const old = drawn.nodes[id];
          return old
            ? {
                ...drawn,
                nodes: { ...drawn.nodes, [id]: withConfig(old, ["conditions", place, "when"], text) },
              }
            : drawn;
        },
      }),
    ),
  ];
}

function edgeSites(graph: WorkflowGraph): TextSite[] {
  return graph.edges.flatMap(({ id, source_node_id, edge_label, condition, condition_name }) => {
    const set =
      (field: "edge_label" | "condition" | "condition_name") => (drawn: WorkflowGraph, text: string) => ({
        ...drawn,
        edges: drawn.edges.map((edge) => (edge.id === id ? { ...edge, [field]: text } : edge)),
      });
    const source = graph.nodes[source_node_id];
    // A router's ways are found at the router.
    const label = source && getNodeKind(source.node_type).routes ? "" : (edge_label ?? "");
    const sites: TextSite[] = [
      {
        at: { kind: "edge", id, field: "edge_label" },
        title: "Label",
        sort: "label",
        text: label,
        write: set("edge_label"),
      },
      {
        at: { kind: "edge", id, field: "condition" },
        title: "Condition",
        sort: "expression",
        text: condition ?? "",
        write: set("condition"),
      },
      {
        at: { kind: "edge", id, field: "condition_name" },
        title: "Guard key",
        sort: "key",
        text: condition_name ?? "",
        write: (drawn, text) =>
          StateKey.safeParse(text).success ? set("condition_name")(drawn, text) : drawn,
      },
    ];
    return sites.filter(({ text }) => text !== "");
  });
}

const isFreeKey = (text: string, keys: readonly string[], at: number) =>
  StateKey.safeParse(text).success && !keys.some((key, place) => place !== at && key === text);

function withConfig(node: WorkflowNode, path: Path, text: string): WorkflowNode {
  return withSettings(node, recordOf(setIn(node.config, path, text)));
}

function getIn(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      isList(inner)
        ? inner[Number(step)]
        : isObject(inner) && Object.hasOwn(inner, step)
          ? inner[step]
          : undefined,
    value,
  );
}

function setIn(value: unknown, [step, ...rest]: Path, text: string): unknown {
  if (step === undefined) return text;
  if (Array.isArray(value))
    return value.map((inner: unknown, at) => (at === step ? setIn(inner, rest, text) : inner));
  const record = recordOf(value);
  return { ...record, [step]: setIn(record[step], rest, text) };
}

/** Every state key that a workflow names, in alphabetical order. */
export function allKeys(graph: WorkflowGraph): string[] {
  const named = Object.values(graph.nodes).flatMap((node) => [
    ...node.input_keys,
    ...node.optional_input_keys,
    ...node.output_keys,
  ]);
  return [...new Set([...named, ...Object.keys(stateProperties(graph))])].sort();
}
