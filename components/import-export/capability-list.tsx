"use client";

import { useQuery } from "@tanstack/react-query";
import { describeTool, MarkBadges } from "@/components/forms/tools/tool-marks";
import { useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { MEMORY_SCOPES, MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { CAPABILITY_KINDS, type Capability, type CapabilityKind } from "@/server/domain/library/capabilities";

/** A capability to allow; `had`: the previous version was already allowed to use it. */
export type Asked = Capability & { had?: boolean };

const KINDS: Record<CapabilityKind, string> = {
  tool: "Tools",
  host: "Addresses",
  secret: "Secrets",
  model: "Models",
  code: "Programs",
  memory: "Persistent memory",
};

/** Which memories a capability opens. */
const memoriesOf = (scope: string): string => {
  const known = MemoryScope.safeParse(scope);
  if (known.success) return MEMORY_SCOPES[known.data].sentence;
  return scope === "*" ? "Memories in any scope (dynamic)" : scope;
};

export interface CapabilityListProps {
  title: string;
  asked: readonly Asked[];
  graph: Pick<WorkflowGraph, "nodes">;
  /** Keys of the allowed capabilities. */
  allowed: readonly string[];
  onAllowed: (keys: string[]) => void;
  /** Marks capabilities that the previous version did not have. */
  isChange?: boolean;
  /** A sentence on where to allow capabilities later. */
  later?: string;
  disabled?: boolean;
}

/** The capabilities that a workflow asks for, by kind, with the nodes and roles that need them. */
export function CapabilityList(props: CapabilityListProps) {
  const { title, asked, graph, allowed, onAllowed, isChange = false, later, disabled = false } = props;
  const tools = useQuery(useTrpc().tools.names.queryOptions()).data?.tools;
  const known = new Map(tools?.map((tool) => [tool.name, tool]));
  if (asked.length === 0) return null;
  const keys = asked.map(({ key }) => key);
  const isAll = keys.every((key) => allowed.includes(key));
  const toggle = (key: string, isOn: boolean) =>
    onAllowed(isOn ? [...allowed, key] : allowed.filter((other) => other !== key));
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-3">
        <h3 className="text-[13px] font-medium">{title}</h3>
        <Button size="sm" disabled={disabled} onClick={() => onAllowed(isAll ? [] : keys)}>
          {isAll ? "Block all" : "Allow all"}
        </Button>
      </div>
      <p className="text-[13px] text-ink-2">
        Items that aren't selected are blocked until you allow them.
        {later ? ` ${later}` : ""}
      </p>
      {CAPABILITY_KINDS.map((kind) => {
        const ofKind = asked.filter((one) => one.kind === kind);
        if (ofKind.length === 0) return null;
        return (
          <div key={kind} className="flex flex-col gap-1">
            <h4 className="text-xs text-ink-3">{KINDS[kind]}</h4>
            <ul
              aria-label={KINDS[kind]}
              className="divide-y divide-line rounded-lg border border-line [overflow-wrap:anywhere]"
            >
              {ofKind.map((one) => {
                const tool = one.kind === "tool" ? known.get(one.name) : undefined;
                const what = tools && one.kind === "tool" ? describeTool(one.name, tool) : "";
                const isNew = isChange && !one.had;
                return (
                  <li key={one.key} className="flex flex-wrap items-start gap-x-3 gap-y-1.5 px-3 py-2">
                    <div className="min-w-0 flex-1 basis-56">
                      <Checkbox
                        label={labelOf(one, graph)}
                        hint={
                          one.where.length === 0
                            ? "After reading untrusted content, agents ask before sending data here"
                            : `${what ? `${what}. ` : ""}Requested by ${askersOf(one, graph)}.`
                        }
                        checked={allowed.includes(one.key)}
                        disabled={disabled}
                        onCheckedChange={(isOn) => toggle(one.key, isOn)}
                      />
                    </div>
                    {isNew || tool ? (
                      <span className="ml-6.5 flex flex-wrap gap-1.5 empty:hidden">
                        {isNew ? <Badge tone="waiting">New</Badge> : null}
                        {tool ? <MarkBadges tool={tool} unavailable={tool.is_unavailable} /> : null}
                      </span>
                    ) : null}
                    {one.detail === undefined ? null : (
                      <pre className="max-h-40 w-full overflow-auto rounded-md bg-sunken p-2 font-mono text-xs">
                        {one.detail}
                      </pre>
                    )}
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </section>
  );
}

const nodeName = ({ nodes }: Pick<WorkflowGraph, "nodes">, id: string): string => nodes[id]?.name || id;

function labelOf({ kind, name }: Asked, graph: Pick<WorkflowGraph, "nodes">): string {
  if (kind === "code") return nodeName(graph, name);
  if (kind === "host") return name === "*" ? "Any URL (dynamic)" : name;
  if (kind === "memory") return memoriesOf(name);
  return kind === "model" ? name.replace(/^\//, "") : name;
}

/** "Look up (as Researcher), Send": the places that ask, without duplicates. */
function askersOf({ where }: Asked, graph: Pick<WorkflowGraph, "nodes">): string {
  const places = where.map(({ node_id, role = "" }) =>
    node_id === undefined ? role : `${nodeName(graph, node_id)}${role ? ` (as ${role})` : ""}`,
  );
  return [...new Set(places)].join(", ");
}
