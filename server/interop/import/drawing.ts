import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { cutText } from "@/server/domain/base/sizes";
import { tooManyParts } from "@/server/domain/graph/document/document";
import { readGraph } from "@/server/domain/graph/document/graph-reader";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { redact } from "@/server/secrets/redact";
import { textOf } from "./values";

/** What a run asks for at its start. */
export interface DrawnInput {
  /** Made by `keyFor`. */
  key: string;
  title?: string;
  description?: string;
  /** JSON Schema of its value; absent: a text. */
  schema?: Raw;
  default?: unknown;
  /** Default: it has no default. */
  required?: boolean;
}

export interface DrawnEdge {
  label?: string | undefined;
  condition?: string | undefined;
  isDefault?: boolean;
}

const NOTE_CHARS = 7_500;
const GAP = { x: 300, y: 190 };
/** Of a note: it stands above what is drawn and reaches into none of it, however long its text; the rest is read by scrolling. */
const NOTE_SIZE = { width: 264, height: 152 };

/**
 * Builds a workflow from foreign files: ids become safe and unique, foreign text becomes notes, and the workflow is
 * validated like any file. Nodes without a position are laid out when the workflow is opened.
 */
export class Drawing {
  private readonly nodes = new Map<string, Raw & { id: string }>();
  private readonly edges: Raw[] = [];
  private readonly left = new Set<string>();
  private readonly reached = new Set<string>();
  private readonly keys = new Map<string, string>();
  private readonly takenKeys = new Set<string>();
  private startId: string | undefined;
  private notes = 0;

  constructor(
    readonly name: string,
    private readonly findings: Findings,
  ) {}

  /** A node of this id, or of one made from it; the answer is its id here. `node`: as in a workflow file. */
  add(wanted: string, node: Raw & { node_type: string }): string {
    const id = freshId(toId(wanted) || toId(textOf(node.name)) || node.node_type, this.nodes);
    const { name, ...rest } = node;
    this.nodes.set(id, {
      ...rest,
      id,
      name: redact(textOf(name) || wanted)
        .trim()
        .slice(0, 200),
    });
    return id;
  }

  /** Changes what a node says. */
  change(id: string, changes: Raw): void {
    const node = this.nodes.get(id);
    if (node) Object.assign(node, changes);
  }
  node(id: string): Readonly<Raw> | undefined {
    return this.nodes.get(id);
  }
  ids(): string[] {
    return [...this.nodes.keys()];
  }

  /** A safe state key for a foreign name; the same name of the same kind of thing gives the same key. */
  keyFor(name: string, of = "value"): string {
    const known = this.keys.get(`${of} ${name}`);
    if (known !== undefined) return known;
    const wanted = (toId(name) || of).replace(/[^A-Za-z0-9_]+/g, "_");
    const key = freshId(wanted, this.takenKeys);
    this.takenKeys.add(key);
    this.keys.set(`${of} ${name}`, key);
    return key;
  }

  /** The start, which asks for these inputs. */
  start(inputs: readonly DrawnInput[]): string {
    const properties = Object.fromEntries(
      inputs.map(({ key, title, description, schema, default: defaultValue }) => [
        key,
        {
          ...(schema ?? { type: "string" }),
          ...defined({
            title: title || undefined,
            description: description ? redact(description).slice(0, 1000) : undefined,
            default: defaultValue,
          }),
        },
      ]),
    );
    const required = inputs
      .filter(({ required, default: defaultValue }) => required ?? defaultValue === undefined)
      .map(({ key }) => key);
    const defaults = Object.fromEntries(
      inputs.flatMap(({ key, default: defaultValue }) =>
        defaultValue === undefined ? [] : [[key, defaultValue]],
      ),
    );
    this.startId = this.add("start", {
      node_type: "start",
      name: "Start",
      output_keys: inputs.map(({ key }) => key),
      config:
        inputs.length > 0 ? { input_schema: { type: "object", properties, required }, ...defaults } : {},
    });
    return this.startId;
  }

  /** An End node that returns these keys; none: the whole state. */
  end(reads: readonly string[] = []): string {
    return this.add("end", { node_type: "end", name: "End", input_keys: [...reads] });
  }

  edge(from: string, to: string, { label, condition, isDefault }: DrawnEdge = {}): void {
    this.left.add(from);
    this.reached.add(to);
    this.edges.push({
      source_node_id: from,
      target_node_id: to,
      ...defined({
        edge_label: label === undefined ? undefined : label.slice(0, 200),
        condition,
        is_default: isDefault ? true : undefined,
      }),
    });
  }

  /** Whether an edge leads from here, or to here. */
  leadsOn(id: string): boolean {
    return this.left.has(id);
  }
  isReached(id: string): boolean {
    return this.reached.has(id);
  }

  /** A note on the canvas: foreign code and settings as text, which no run and no model reads. */
  note(text: string, title = "Note"): string {
    const plain = redact(text);
    const notes = this.notes++;
    return this.add(`note_${toId(title) || "text"}`, {
      node_type: "note",
      name: title,
      ui: { x: (notes % 4) * GAP.x, y: -GAP.y * (Math.floor(notes / 4) + 1), ...NOTE_SIZE },
      config: { text: cutText(plain, NOTE_CHARS) },
    });
  }

  /**
   * A placeholder for a step that can't be imported. It has no role, which keeps a run from starting until a person
   * chooses one and writes its task, or deletes the step; a note keeps the original. `why`: a sentence, which becomes
   * the diagnostic at `at`.
   */
  placeholder(
    wanted: string,
    how: { name: string; original: string; why: string; at: string; findings?: Findings; node?: Raw },
  ): string {
    const id = this.add(wanted, {
      ...how.node,
      node_type: "agent_task",
      name: how.name,
      config: { required_role: "", task_description_template: "" },
    });
    if (how.original.trim()) this.note(how.original, `Original of "${how.name}"`);
    (how.findings ?? this.findings).placeholder(
      how.at,
      `${how.why} "${how.name}" is now an empty step: assign it and describe its task, or delete it. The workflow can't run until then.`,
      id,
    );
    return id;
  }

  /** The workflow; null, with an error among the findings, where nothing can be made of it. */
  finish(more: { description?: string; schema?: Raw; config?: Raw } = {}): WorkflowGraph | null {
    const tooMany = tooManyParts({ nodes: [...this.nodes.values()], edges: this.edges });
    if (tooMany) {
      this.findings.error("", tooMany);
      return null;
    }
    return readGraph(
      {
        graph_id: toId(this.name) || "workflow",
        nodes: Object.fromEntries(this.nodes),
        edges: this.edges,
        ...defined({
          start_node_id: this.startId,
          description: more.description ? redact(more.description).slice(0, 4000) : undefined,
          global_state_schema: more.schema,
          config: more.config,
        }),
      },
      "",
      this.findings,
    );
  }
}
