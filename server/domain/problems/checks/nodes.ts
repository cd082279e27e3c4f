import { getNodeKind } from "@/server/domain/nodes";
import type { Misfit } from "@/server/domain/nodes/define";
import { readSchema } from "@/server/domain/schema/schema";
import type { Check, NodeCheck } from "../check";
import { checkCrew } from "./crews";
import { checkErrorHandling } from "./error-handling";
import { checkJoin } from "./join";
import { checkKeptOutput } from "./missing-output-key";
import { checkRoles } from "./roles";
import { checkRules } from "./rules";
import { checkTexts } from "./texts";
import { checkTypedKeys } from "./typed-keys";

/** What each node that runs is checked for, in this order. */
const NODE_CHECKS: readonly ((check: NodeCheck) => void)[] = [
  checkTexts,
  checkTypedKeys,
  checkRules,
  checkRoles,
  checkCrew,
  checkErrorHandling,
  checkKeptOutput,
  checkJoin,
];

/** Every node by itself: its id, what its kind finds in its settings, and what holds of all kinds. */
export function checkNodes(check: Check): void {
  const { graph, report, outgoing, reading } = check;
  for (const [key, node] of Object.entries(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    const at = { kind: "node" as const, id: key };
    if (node.id !== key)
      report.error("E_DUPLICATE_ID", at, `The node "${key}" carries the id "${node.id}". Draw it anew.`, {
        kind: "set_node",
        node_id: key,
        set: { id: key },
        label: "Repair the id",
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
