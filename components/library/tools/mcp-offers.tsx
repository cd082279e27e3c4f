"use client";

import { formatBytes } from "@/components/display/format";
import { Panel } from "@/components/ui/panel";
import type { McpListed } from "./mcp-word-text";

/** The resources and prompts of a server. */
export function McpOffers({ server: { name, resources, prompts } }: { server: McpListed }) {
  return (
    <>
      {resources.length > 0 ? (
        <Panel
          flush
          title="Resources"
          description="Content that agents can read with the @read_resource tool, once it's approved."
        >
          <ul aria-label={`Resources of ${name}`} className="divide-y divide-line">
            {resources.map(({ uri, name: title, description, mime_type, size, is_template }) => (
              <Offer
                key={uri}
                title={title}
                address={uri}
                description={description}
                facts={[
                  is_template ? "template" : "",
                  mime_type ?? "",
                  size === null ? "" : formatBytes(size),
                ]}
              />
            ))}
          </ul>
        </Panel>
      ) : null}
      {prompts.length > 0 ? (
        <Panel
          flush
          title="Prompts"
          description="Prompt templates that agents can get with the @get_prompt tool, once it's approved."
        >
          <ul aria-label={`Prompts of ${name}`} className="divide-y divide-line">
            {prompts.map(({ name: title, description, arguments: takes }) => (
              <Offer
                key={title}
                title={title}
                description={description}
                facts={takes.map((one) => (one.required ? one.name : `${one.name} (optional)`))}
              />
            ))}
          </ul>
        </Panel>
      ) : null}
    </>
  );
}

function Offer({
  title,
  address,
  description,
  facts,
}: {
  title: string;
  address?: string;
  description: string;
  facts: readonly string[];
}) {
  const details = facts.filter(Boolean).join(", ");
  return (
    <li className="flex min-w-0 flex-col gap-1 px-4 py-3 text-[13px]">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="font-medium [overflow-wrap:anywhere]">{title}</span>
        {details ? <span className="text-xs text-ink-3 tabular-nums">{details}</span> : null}
      </div>
      {address ? (
        <code className="font-mono text-xs text-ink-2 [overflow-wrap:anywhere]">{address}</code>
      ) : null}
      {description ? (
        <p className="whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">{description}</p>
      ) : null}
    </li>
  );
}
