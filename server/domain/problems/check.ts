import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import type { AnyNodeKind, WorkflowNode } from "@/server/domain/nodes";
import type { TextDiagnostic } from "@/server/domain/text/text-diagnostic";
import type { Fix } from "./fixes";
import type { Problem, ProblemContext } from "./problem";
import type { Reading } from "./reading";

/** Collects problems. Errors stop a run, warnings do not. */
export class Report {
  readonly problems: Problem[] = [];

  constructor(private readonly dismissed: ReadonlySet<string> = new Set()) {}

  error(code: string, at: Problem["at"], message: string, fix?: Fix): void {
    this.problems.push({ severity: "error", code, message, at, ...defined({ fix }) });
  }
  warning(code: string, at: Problem["at"], message: string, fix?: Fix): void {
    this.problems.push({ severity: "warning", code, message, at, ...defined({ fix }) });
  }
  /** An improvement of something that works. A person may dismiss it, at each place; `dismiss` labels that button. */
  advice(
    code: string,
    at: Problem["at"],
    message: string,
    { fix, dismiss = "Dismiss" }: { fix?: Fix | undefined; dismiss?: string } = {},
  ): void {
    const key = at.id === undefined ? code : `${code} ${at.id}`;
    if (this.dismissed.has(key)) return;
    this.problems.push({
      severity: "warning",
      code,
      message,
      at,
      ...defined({ fix }),
      dismiss: { kind: "dismiss", key, label: dismiss },
    });
  }
  /** Errors of an expression or a template, each with its place in the field's text. */
  texts(code: string, at: Problem["at"], field: string, diagnostics: readonly TextDiagnostic[]): void {
    for (const { message, from, to } of diagnostics) this.error(code, { ...at, field, from, to }, message);
  }
}

/** What the checks need of a role. */
export type NamedRole = Pick<RoleDefinition, "name" | "tools"> &
  Partial<
    Pick<RoleDefinition, "guardrails" | "output_schema" | "rule" | "system_prompt_template" | "knowledge">
  >;

export interface Check {
  graph: WorkflowGraph;
  analysis: Analysis;
  report: Report;
  /** Edges between nodes that exist, by source, including those that no run reaches. */
  outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>;
  reading: Reading;
  roles: readonly NamedRole[];
  roleByName: ReadonlyMap<string, NamedRole>;
  /** What is known about the installation. */
  here: ProblemContext;
}

export interface NodeCheck extends Check {
  node: WorkflowNode;
  kind: AnyNodeKind;
  at: Problem["at"];
  /** The edges that leave it. */
  edges: readonly WorkflowEdge[];
  /** Whether its expressions and templates are read, see `planReading`. */
  isRead: boolean;
}
