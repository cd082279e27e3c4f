import { keysIn } from "@/server/domain/graph/secrets";
import type { NodeCheck } from "../check";

/** Keys and passwords that are typed into the settings of a node. */
export function checkTypedKeys({ report, at, node, isRead }: NodeCheck): void {
  if (!isRead) return;
  const [first] = keysIn(node.config);
  if (first)
    report.advice(
      "W_LOOKS_LIKE_A_SECRET",
      { ...at, field: first.place },
      "This looks like a key or a password. It is stored in plain text with the workflow and its runs, and is removed from exports. Use a tool whose provider or MCP server keeps the key instead.",
    );
}
