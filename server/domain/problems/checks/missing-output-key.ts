import { writtenKeys } from "@/server/domain/nodes";
import type { NodeCheck } from "../check";
import { nameOf } from "../names";

/** The answer of an agent or a crew that no key keeps. */
export function checkKeptOutput({ report, at, node, kind }: NodeCheck): void {
  if (kind.group === "agents" && writtenKeys(node).length === 0) {
    const own = `${node.id.replace(/[^A-Za-z0-9_]/g, "_")}_result`;
    report.warning(
      "W_NO_OUTPUT",
      { ...at, field: "output_keys" },
      `The answer of ${nameOf(node)} is kept nowhere. Name a key for it.`,
      {
        kind: "set_node",
        node_id: node.id,
        set: { output_keys: [own] },
        label: `Keep it as ${own}`,
      },
    );
  }
}
