"use client";

import { useQuery } from "@tanstack/react-query";
import { describeTool, MarkBadges } from "@/components/forms/tool-marks";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import type { RoleInFile } from "./roles-in-file";

export interface ToolsAskedProps {
  /** The roles that would come in. */
  roles: readonly RoleInFile[];
  allowed: readonly string[];
  onAllowed: (tools: string[]) => void;
}

/** The tools that roles of a file ask for, none of which they get before somebody ticks it. */
export function ToolsAsked({ roles, allowed, onAllowed }: ToolsAskedProps) {
  const names = useQuery(useTrpc().tools.names.queryOptions()).data;
  const known = new Map(names?.tools.map((tool) => [tool.name, tool]));
  const asked = askedBy(roles);
  if (asked.size === 0) return null;
  const isAll = [...asked.keys()].every((name) => allowed.includes(name));
  const about = (name: string, by: readonly string[]) => {
    const about = describeTool(name, known.get(name));
    return `${about}. Asked for by ${by.join(", ")}.`;
  };
  return (
    <section aria-label="Tools that the roles ask for" className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-3">
        <h3 className="text-[13px] font-medium">What the roles want to use</h3>
        <Button size="sm" onClick={() => onAllowed(isAll ? [] : [...asked.keys()])}>
          {isAll ? "Allow none" : "Allow all"}
        </Button>
      </div>
      <p className="text-[13px] text-ink-2">
        They come without the tools that are not ticked. Those can be ticked later, on the Roles page.
      </p>
      <ul
        aria-label="Tools asked for"
        className="divide-y divide-line rounded-lg border border-line [overflow-wrap:anywhere]"
      >
        {[...asked].map(([name, by]) => {
          const tool = known.get(name);
          return (
            <li key={name} className="flex flex-wrap items-start gap-x-3 gap-y-1.5 px-3 py-2">
              <div className="min-w-0 flex-1 basis-56">
                <Checkbox
                  label={name}
                  hint={about(name, by)}
                  checked={allowed.includes(name)}
                  onCheckedChange={(checked) =>
                    onAllowed(checked ? [...allowed, name] : allowed.filter((other) => other !== name))
                  }
                />
              </div>
              {tool ? (
                <span className="ml-6.5 flex flex-wrap gap-1.5 empty:hidden">
                  <MarkBadges tool={tool} unavailable={tool.is_unavailable} />
                </span>
              ) : null}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Each tool that is asked for, with the roles that want it. */
function askedBy(roles: readonly RoleInFile[]): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const { role, asks } of roles)
    for (const tool of asks) asked.set(tool, [...(asked.get(tool) ?? []), role.name]);
  return asked;
}

/** Says which tools roles came without; undefined where they have all. */
export function describeLeftOut(
  left_out: readonly { role: string; tools: readonly string[] }[],
): string | undefined {
  if (left_out.length === 0) return undefined;
  const each = left_out.map(({ role, tools }) => `${role} came without ${tools.join(", ")}`);
  return `${each.join("; ")}. What a role may use can be ticked on the Roles page.`;
}
