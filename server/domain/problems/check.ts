import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import type { AnyNodeKind, WorkflowNode } from "@/server/domain/nodes";
import type { TextDiagnostic } from "@/server/domain/text/text-diagnostic";
import type { Fix } from "./fixes";
import type { Problem, ProblemContext } from "./problem";
import type { Reading } from "./reading";

/** Collects what is wrong. Errors stop a run, warnings do not. */
export class Report {
  readonly problems: Problem[] = [];

  constructor(private readonly dismissed: ReadonlySet<string> = new Set()) {}

  error(code: string, at: Problem["at"], message: string, fix?: Fix): void {
    this.add("error", code, at, message, fix);
  }
  warning(code: string, at: Problem["at"], message: string, fix?: Fix): void {
    this.add("warning", code, at, message, fix);
  }
  /** What would be better, but works: a person may dismiss it, once for each place. `dismiss`: what that button says. */
  advice(code: string, at: Problem["at"], message: string, fix?: Fix, dismiss = "I know"): void {
    const key = at.id === undefined ? code : `${code} ${at.id}`;
    if (this.dismissed.has(key)) return;
    this.problems.push({
      severity: "warning",
      code,
      message,
      at,
      ...defined({ fix: fix || undefined }),
      dismiss: { kind: "dismiss", key, label: dismiss },
    });
  }
  /** Faults of an expression or a template, each with its place in the field's text. */
  texts(code: string, at: Problem["at"], field: string, diagnostics: readonly TextDiagnostic[]): void {
    for (const { message, from, to } of diagnostics) this.error(code, { ...at, field, from, to }, message);
  }

  private add(severity: Problem["severity"], code: string, at: Problem["at"], message: string, fix?: Fix) {
    this.problems.push({ severity, code, message, at, ...defined({ fix: fix || undefined }) });
  }
}

/** A role as far as the checks look. */
export type NamedRole = Pick<RoleDefinition, "name" | "tools"> &
  Partial<Pick<RoleDefinition, "guardrails" | "output_schema">>;

/** What a check of a workflow is given. */
export interface Check {
  graph: WorkflowGraph;
  analysis: Analysis;
  report: Report;
  /** Edges between nodes that exist, by source, also where a run never comes. */
  outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>;
  reading: Reading;
  roles: readonly NamedRole[];
  roleByName: ReadonlyMap<string, NamedRole>;
  /** What is known of the installation. */
  here: ProblemContext;
}

/** What a check of one node is given. */
export interface NodeCheck extends Check {
  node: WorkflowNode;
  kind: AnyNodeKind;
  at: Problem["at"];
  /** The edges that leave it. */
  edges: readonly WorkflowEdge[];
  /** Whether its texts are few enough to be read. */
  isRead: boolean;
}
