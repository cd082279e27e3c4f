import Link from "next/link";

export interface WorkflowUse {
  workflow_id: string;
  workflow_name: string;
  node_ids: readonly string[];
}

/** Workflows that use something, each leading to the first node that does. */
export function WorkflowUses({ uses }: { uses: readonly WorkflowUse[] }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {uses.map(({ workflow_id, workflow_name, node_ids }) => (
        <li key={workflow_id}>
          <Link
            href={`/workflows/${workflow_id}?node=${encodeURIComponent(node_ids[0] ?? "")}`}
            className="flex items-center gap-3 px-3 py-2 text-[13px] hover:bg-ink/3"
          >
            <span className="min-w-0 flex-1 truncate">{workflow_name}</span>
            <span className="text-ink-3">
              {node_ids.length} {node_ids.length === 1 ? "node" : "nodes"}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
