import type { NodeCheck } from "../check";
import { nameOf } from "../names";

/** An error edge that is meant to be there. */
export function checkErrorHandling({ report, at, node, edges }: NodeCheck): void {
  if (node.on_error === "error_edge" && !edges.some((edge) => edge.kind === "error"))
    report.warning(
      "W_NO_ERROR_EDGE",
      { ...at, field: "on_error" },
      `${nameOf(node)} is to follow an error edge when it fails, but none leaves it, so the run would fail. Draw one.`,
      {
        kind: "set_node",
        node_id: node.id,
        set: { on_error: "fail_run" },
        label: "Fail the run instead",
      },
    );
}
