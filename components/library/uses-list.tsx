import { Network, UserRound, Workflow } from "lucide-react";
import Link from "next/link";
import type { Use } from "@/server/domain/library/uses";

const KINDS = {
  workflow: {
    Icon: Workflow,
    word: "Workflow",
    hrefTo: ({ id, node_ids }: Use) => `/workflows/${id}?node=${encodeURIComponent(node_ids[0] ?? "")}`,
  },
  crew: {
    Icon: Network,
    word: "Crew",
    hrefTo: ({ id }: Use) => `/crews?crew=${encodeURIComponent(id)}`,
  },
  agent: {
    Icon: UserRound,
    word: "Agent",
    hrefTo: ({ id }: Use) => `/agents?agent=${encodeURIComponent(id)}`,
  },
};

/** What uses an item, with links; those to workflows select the first node that uses it. */
export function UsesList({ uses, nobody }: { uses: readonly Use[]; nobody: string }) {
  return (
    <section aria-label="Used by" className="shrink-0">
      <h2 className="mb-2 text-[13px] font-medium">Used by</h2>
      {uses.length === 0 ? (
        <p className="text-[13px] text-ink-3">{nobody}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {uses.map((use) => {
            const { Icon, word, hrefTo } = KINDS[use.kind];
            const nodes = use.node_ids.length;
            return (
              <li key={`${use.kind} ${use.id}`}>
                <Link
                  href={hrefTo(use)}
                  className="flex items-center gap-3 px-3 py-2 text-[13px] hover:bg-ink/3"
                >
                  <Icon aria-hidden="true" className="size-4 shrink-0 text-ink-3" />
                  <span className="min-w-0 flex-1 truncate">{use.name}</span>
                  <span className="text-ink-3">
                    {use.kind === "workflow" ? `${nodes} ${nodes === 1 ? "node" : "nodes"}` : word}
                  </span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
