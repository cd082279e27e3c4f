import type { Guardrail } from "@/server/domain/agent/role";
import { describeUnchecked, guardrailNote } from "@/server/domain/agent/unchecked";
import { MAX_EXPRESSION_CHARS } from "@/server/domain/base/work-budget";
import { getNodeKind, settingsOf, writtenKeys } from "@/server/domain/nodes";
import type { Misfit } from "@/server/domain/nodes/define";
import { readSchema } from "@/server/domain/schema/schema";
import { checkExpression } from "@/server/domain/text/expression/expression";
import { checkTemplate } from "@/server/domain/text/template/template";
import type { Check, NodeCheck } from "../check";
import type { PlanLike } from "../crew-like";
import { formatCount, nameOf } from "../names";
import { charsOf } from "../reading";
import { checkCrew } from "./crews";
import { checkRoles } from "./roles";
import { checkSecrets, checkTypedKeys } from "./secrets";

/** Expressions and templates with errors. */
function checkTexts({ report, at, node, kind, edges, isRead }: NodeCheck): void {
  if (!isRead) return;
  const own = kind.expressions?.(node.config) ?? [];
  const mapped = [node.input_mapping, node.output_mapping].map((mapping) => Object.values(mapping ?? {}));
  // Expressions of one step share a budget: the node's own, each mapping, and the conditions of its edges.
  const edgeConditions = edges.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  const long = [own.map(({ expression }) => expression), ...mapped, edgeConditions].find(
    (texts) => charsOf(texts) > MAX_EXPRESSION_CHARS,
  );
  if (long) {
    report.error(
      "E_NODE_TOO_LARGE",
      at,
      `The ${long === edgeConditions ? "outgoing conditions of" : "expressions of"} ${nameOf(node)} have ${formatCount(charsOf(long))} characters in total; one step can evaluate at most ${formatCount(MAX_EXPRESSION_CHARS)}. Split them across several nodes.`,
    );
    return;
  }
  for (const { field, expression, result } of own)
    report.texts("E_BAD_EXPRESSION", at, field, checkExpression(expression, { result: result ?? "any" }));
  for (const { field, template } of kind.templates?.(node.config) ?? [])
    report.texts("E_BAD_TEMPLATE", at, field, checkTemplate(template));
  if (node.when !== undefined)
    report.texts("E_BAD_EXPRESSION", at, "when", checkExpression(node.when, { result: "bool" }));
  for (const [key, expression] of Object.entries(node.input_mapping ?? {}))
    report.texts("E_BAD_EXPRESSION", at, `input_mapping.${key}`, checkExpression(expression));
  for (const [key, expression] of Object.entries(node.output_mapping ?? {}))
    report.texts("E_BAD_EXPRESSION", at, `output_mapping.${key}`, checkExpression(expression));
}

/** Parts of schemas and patterns that are not checked in a run. */
function checkRules({ report, at, node, kind }: NodeCheck): void {
  const settings = settingsOf(node);
  const warn = (field: string, what: string, detail: string) =>
    report.warning(
      "W_NOT_CHECKED",
      { ...at, field },
      `${what} of ${nameOf(node)} isn't fully checked. ${detail}`,
    );
  const warnRules = (rules: readonly Guardrail[] | undefined, field: string) =>
    rules?.forEach((rule, position) => {
      const note = guardrailNote(rule);
      if (note && rule.kind === "regex")
        report.warning(
          "W_SLOW_PATTERN",
          { ...at, field: `${field}.${position}` },
          `The guardrail "${rule.name}" of ${nameOf(node)} may be slow. ${note}`,
        );
      else if (note) warn(`${field}.${position}`, `The guardrail "${rule.name}"`, note);
    });
  for (const field of kind.fields) {
    if (field.showIf && !field.showIf(node.config)) continue;
    if (field.as === "schema") {
      const schema = settings[field.key];
      const notes = schema ? describeUnchecked(schema) : [];
      if (notes.length > 0) warn(field.key, `"${field.label}"`, notes.join(" "));
    } else if (field.as === "guardrails") warnRules(settings[field.key], field.key);
    else if (field.as === "plan") {
      const plan: PlanLike | undefined = settings[field.key];
      plan?.tasks?.forEach(({ guardrails }, position) => {
        warnRules(guardrails, `${field.key}.tasks.${position}.guardrails`);
      });
    }
  }
}

/** An agent or a crew whose output no key keeps. */
function checkKeptOutput({ report, at, node, kind }: NodeCheck): void {
  if (kind.group === "agents" && writtenKeys(node).length === 0) {
    const own = `${node.id.replace(/[^A-Za-z0-9_]/g, "_")}_result`;
    report.warning(
      "W_NO_OUTPUT",
      { ...at, field: "output_keys" },
      `The output of ${nameOf(node)} isn't saved. Add an output key.`,
      {
        kind: "set_node",
        node_id: node.id,
        set: { output_keys: [own] },
        label: `Save it as ${own}`,
      },
    );
  }
}

/** A node that waits for more edges than lead to it. */
function checkJoin({ analysis, report, at, node }: NodeCheck): void {
  if (typeof node.join === "object") {
    const incomingCount = (analysis.incoming.get(node.id) ?? []).filter(
      (edge) => !analysis.backEdges.has(edge.id),
    ).length;
    if (node.join.n > incomingCount && analysis.position.has(node.id))
      report.error(
        "E_JOIN_N_TOO_LARGE",
        { ...at, field: "join" },
        `${nameOf(node)} waits for ${node.join.n} branches, but only ${incomingCount} ${incomingCount === 1 ? "leads" : "lead"} here.`,
        incomingCount === 0
          ? undefined
          : {
              kind: "set_node",
              node_id: node.id,
              set: { join: { ...node.join, n: incomingCount } },
              label: `Wait for ${incomingCount}`,
            },
      );
  }
}

/** A node that needs an error edge and has none. */
function checkErrorHandling({ report, at, node, edges }: NodeCheck): void {
  if (node.on_error === "error_edge" && !edges.some((edge) => edge.kind === "error"))
    report.warning(
      "W_NO_ERROR_EDGE",
      { ...at, field: "on_error" },
      `${nameOf(node)} should follow an error path when it fails, but has none, so the run would fail. Connect an error path.`,
      {
        kind: "set_node",
        node_id: node.id,
        set: { on_error: "fail_run" },
        label: "Fail the run instead",
      },
    );
}

/** The checks of each node that runs, in this order. */
const NODE_CHECKS: readonly ((check: NodeCheck) => void)[] = [
  checkTexts,
  checkTypedKeys,
  checkSecrets,
  checkRules,
  checkRoles,
  checkCrew,
  checkErrorHandling,
  checkKeptOutput,
  checkJoin,
];

/** Every node: its id, the checks of its kind, and those of all kinds. */
export function checkNodes(check: Check): void {
  const { graph, report, outgoing, reading } = check;
  for (const [key, node] of Object.entries(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    const at = { kind: "node" as const, id: key };
    if (node.id !== key)
      report.error("E_DUPLICATE_ID", at, `"${key}" has a different ID: "${node.id}". Add the node again.`, {
        kind: "set_node",
        node_id: key,
        set: { id: key },
        label: "Repair ID",
      });
    if (kind.executes === false) continue;
    for (const { severity, code, message, field } of kind.validate?.(node.config, node, misfit) ?? [])
      report[severity](code, field === undefined ? at : { ...at, field }, message);
    const edges = outgoing.get(key) ?? [];
    const one: NodeCheck = { ...check, node, kind, at, edges, isRead: reading.ofNode(key) };
    for (const checkOne of NODE_CHECKS) checkOne(one);
  }
}

const misfit: Misfit = (schema, value) => readSchema(schema).errors(value)[0]?.message ?? null;
