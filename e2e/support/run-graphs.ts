/** Workflow files for the specs about runs; the offline demo follows the directives in their tasks. */
type Node = Record<string, unknown> & { id: string; node_type: string };
type Edge = {
  id?: string;
  source_node_id: string;
  target_node_id: string;
  edge_label?: string;
  kind?: string;
};

let placed = 0;
const place = (column: number, row = 0) => ({ x: column * 320, y: row * 170 });

export const start = (keys: readonly string[] = ["topic"], column = 0): Node => ({
  id: "start",
  name: "Begin",
  node_type: "start",
  output_keys: keys,
  ui: place(column),
});

export const end = (id: string, name: string, column: number, row = 0, more: object = {}): Node => ({
  id,
  name,
  node_type: "end",
  ui: place(column, row),
  ...more,
});

/** An agent that answers what the directives say: `[[offline: delay 1s]] [[offline: json {"a": 1}]]`. */
export const agent = (
  id: string,
  name: string,
  task: string,
  column: number,
  row = 0,
  more: object = {},
): Node => ({
  id,
  name,
  node_type: "agent_task",
  output_keys: [id],
  config: { required_role: "Writer", task_description_template: task },
  ui: place(column, row),
  ...more,
});

export const edge = (
  source_node_id: string,
  target_node_id: string,
  edge_label?: string,
  kind?: string,
): Edge => ({
  id: `e${++placed}`,
  source_node_id,
  target_node_id,
  ...(edge_label ? { edge_label } : {}),
  ...(kind ? { kind } : {}),
});

/** A workflow file with the one role that these agents have. */
export const file = (name: string, nodes: readonly Node[], edges: readonly Edge[], more: object = {}) => ({
  troupe: 1,
  name,
  workflow: {
    graph_id: name.toLowerCase().replace(/[^a-z0-9]+/g, "_"),
    description: name,
    start_node_id: "start",
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    edges,
    ...more,
  },
  roles: [{ name: "Writer", description: "Writes what is asked for", goals: ["Be short"] }],
});
