import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import type { Drawing } from "../../drawing";

/** Where the drawing goes on from: a node, and which of its ways out. Null: the start. */
export interface End {
  from: string | null;
  label?: string;
  isDefault?: boolean;
}

/** Draws one thing after another: what is drawn next follows all ends that are open. */
export class Trail {
  private open: End[] = [{ from: null }];
  private readonly begins: { to: string; end: End }[] = [];
  /** The node that was drawn last, where nothing else follows it yet. */
  private latest: string | null = null;

  constructor(readonly drawing: Drawing) {}

  get isOpen(): boolean {
    return this.open.length > 0;
  }
  /** The nodes behind which the drawing is open. */
  openNodes(): (string | null)[] {
    return this.open.map(({ from }) => from);
  }
  /** The node that everything follows now, where it is one and its only way out is open. */
  get last(): string | null {
    const [end] = this.open;
    return this.open.length === 1 && end?.from === this.latest && end.label === undefined
      ? this.latest
      : null;
  }

  /** Takes the open ends away: nothing follows them until they are opened again. */
  take(): End[] {
    const ends = this.open;
    this.open = [];
    return ends;
  }
  openEnds(ends: readonly End[]): void {
    this.open = [...this.open, ...ends];
  }

  /** A node that follows what is open. */
  step(wanted: string, node: Raw & { node_type: string }): string {
    const id = this.drawing.add(wanted, node);
    this.reach(id);
    return id;
  }
  placeholder(
    wanted: string,
    how: { name: string; original: string; why: string; at: string; findings: Findings; node?: Raw },
  ): string {
    const id = this.drawing.placeholder(wanted, how);
    this.reach(id);
    return id;
  }
  end(node: Raw = {}): void {
    const id = this.drawing.end();
    if (Object.keys(node).length > 0) this.drawing.change(id, node);
    this.lead(id);
    this.open = [];
  }

  /** Leads all that is open to a node. */
  lead(id: string): void {
    for (const end of this.take()) this.connect(end, id);
  }

  private reach(id: string): void {
    this.lead(id);
    this.open = [{ from: id }];
    this.latest = id;
  }

  private connect(end: End, to: string): void {
    if (end.from === null) this.begins.push({ to, end });
    else
      this.drawing.edge(end.from, to, {
        label: end.label,
        ...(end.isDefault ? { isDefault: true } : {}),
      });
  }

  /** Draws the edges that leave the start, once it is there. */
  begin(start: string): void {
    for (const { to } of this.begins) this.drawing.edge(start, to);
    this.begins.length = 0;
  }
}
