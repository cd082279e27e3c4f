"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { MarkBadges } from "@/components/forms/tools/tool-marks";
import { type Answers, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { TextField } from "@/components/ui/input/text-field";
import { CREW_TOOL_NOTES, newIsToolKnown } from "@/server/domain/crew/crew-tools";

const SHOWN = 8;

export interface ToolPickerProps {
  tools: readonly string[];
  onChange: (tools: string[]) => void;
  error?: string | undefined;
}

/** Searches and picks the tools of a role. Unknown names can be entered, too. */
export function ToolPicker({ tools, onChange, error }: ToolPickerProps) {
  const [search, setSearch] = useState("");
  const names = useQuery(useTrpc().tools.names.queryOptions()).data;
  const known = new Map(names?.tools.map((tool) => [tool.name, tool]));
  const isKnown = names && newIsToolKnown(known.keys(), names.mcp_servers);
  const all = [
    ...(names?.tools ?? []),
    ...(names?.mcp_servers ?? []).map((server) => ({
      name: `mcp:${server}/*`,
      description: `All current and future tools from MCP server ${server}`,
    })),
    ...CREW_TOOL_NOTES.filter(({ grant }) => grant === "role"),
  ].filter(({ name }) => !tools.includes(name));
  const terms = search.trim().toLowerCase().split(/\s+/);
  const found = all.filter(({ name, description }) =>
    terms.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
  );
  const free = search.trim();
  const canAddFree = free !== "" && !/\s/.test(free) && free.length <= 200 && !tools.includes(free);
  const add = (name: string) => {
    onChange([...tools.filter((tool) => tool.trim() !== ""), name]);
    setSearch("");
  };
  return (
    <Field label="Tools" hint="Tools that agents with this role can use" error={error} group>
      {tools.length > 0 ? (
        <ul
          aria-label="Tools of this role"
          className="divide-y divide-line rounded-lg border border-line bg-bg"
        >
          {tools.map((name) => (
            <ChosenTool
              key={name}
              name={name}
              tool={known.get(name)}
              isMissing={isKnown ? !isKnown(name) : false}
              onRemove={() => onChange(tools.filter((other) => other !== name))}
            />
          ))}
        </ul>
      ) : null}
      <TextField
        label="Add tool"
        hideLabel
        type="search"
        mono
        placeholder="Search tools or enter a name…"
        icon={<Plus aria-hidden="true" />}
        value={search}
        onValueChange={setSearch}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          const exact =
            found.find(({ name }) => name === free) ?? (found.length === 1 ? found[0] : undefined);
          if (exact) add(exact.name);
          else if (canAddFree) add(free);
        }}
      />
      {free === "" ? null : (
        <FoundTools found={found} known={known} free={canAddFree ? free : null} onAdd={add} />
      )}
    </Field>
  );
}

type KnownTool = Answers["tools"]["names"]["tools"][number];

function ChosenTool({
  name,
  tool,
  isMissing,
  onRemove,
}: {
  name: string;
  tool: KnownTool | undefined;
  isMissing: boolean;
  onRemove: () => void;
}) {
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 px-2.5 py-1">
      <Link
        href={`/tools?tool=${encodeURIComponent(name)}`}
        target="_blank"
        className="min-w-0 truncate font-mono text-[13px] hover:text-accent"
      >
        {name}
      </Link>
      <span className="flex-1" />
      <Marks tool={tool} />
      {isMissing ? <Badge tone="waiting">Not installed</Badge> : null}
      <IconButton
        size="sm"
        plain
        label={`Remove ${name}`}
        icon={<X aria-hidden="true" />}
        onClick={onRemove}
      />
    </li>
  );
}

function FoundTools({
  found,
  known,
  free,
  onAdd,
}: {
  found: readonly { name: string; description: string }[];
  known: ReadonlyMap<string, KnownTool>;
  /** A valid but unknown tool name. */
  free: string | null;
  onAdd: (name: string) => void;
}) {
  return (
    <ul aria-label="Search results" className="rounded-lg border border-line bg-raised p-1">
      {found.slice(0, SHOWN).map((tool) => (
        <li key={tool.name}>
          <button
            type="button"
            aria-label={`Add ${tool.name}`}
            onClick={() => onAdd(tool.name)}
            className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-ink/5 focus-visible:bg-ink/5"
          >
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-[13px]">{tool.name}</span>
              <span className="block truncate text-xs text-ink-2">{tool.description}</span>
            </span>
            <Marks tool={known.get(tool.name)} />
          </button>
        </li>
      ))}
      {found.length > SHOWN ? (
        <li className="px-2 py-1.5 text-xs text-ink-3">{`and ${found.length - SHOWN} more`}</li>
      ) : null}
      {free !== null && !found.some(({ name }) => name === free) ? (
        <li className="px-1 py-1">
          <Button size="sm" variant="ghost" onClick={() => onAdd(free)}>
            {`Add “${free}” (not installed)`}
          </Button>
        </li>
      ) : null}
      {found.length === 0 && free === null ? (
        <li className="px-2 py-1.5 text-[13px] text-ink-2">No matching tools</li>
      ) : null}
    </ul>
  );
}

/** Undefined for crew tools and whole servers, which have no marks. */
function Marks({ tool }: { tool: KnownTool | undefined }) {
  return tool ? <MarkBadges tool={tool} unavailable={tool.is_unavailable} /> : null;
}
