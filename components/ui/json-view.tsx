"use client";

import clsx from "clsx";
import { Check, ChevronRight, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./icon-button";

export interface JsonViewProps {
  value: unknown;
  /** The accessible name, such as "Output of Review". */
  label: string;
  /** Levels that start open. */
  openDepth?: number | undefined;
  className?: string | undefined;
}

/** A read-only JSON value. Objects and lists fold; long texts are not cut. */
export function JsonView({ value, label, openDepth = 2, className }: JsonViewProps) {
  return (
    <section
      aria-label={label}
      className={clsx(
        "group/json relative rounded-lg border border-line bg-sunken font-mono text-xs leading-5",
        className,
      )}
    >
      <div className="absolute top-1 right-1 z-10">
        <CopyButton
          text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
          label={`Copy ${label}`}
        />
      </div>
      <div className="max-h-96 overflow-auto p-3 pr-9" tabIndex={0}>
        <Value value={value} depth={0} openDepth={openDepth} />
      </div>
    </section>
  );
}

/** Copies a text, and confirms it for a moment. */
export function CopyButton({
  text,
  label = "Copy",
  className,
}: {
  text: string;
  label?: string | undefined;
  className?: string | undefined;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <IconButton
      size="sm"
      label={copied ? "Copied" : label}
      icon={copied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      onClick={() => void copy()}
      className={className}
    />
  );
}

/** Copies a text, even on plain-HTTP pages, which have no clipboard API. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

interface ValueProps {
  value: unknown;
  name?: string | undefined;
  depth: number;
  openDepth: number;
}

function Value({ value, name, depth, openDepth }: ValueProps) {
  if (value === null || typeof value !== "object" || Object.keys(value).length === 0)
    return (
      <div className="whitespace-pre-wrap break-words">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  const entries: [string, unknown][] = Object.entries(value);
  const isList = Array.isArray(value);
  return (
    <details open={depth < openDepth} className="group/part">
      <summary className="-ml-1 flex list-none items-center rounded px-1 hover:bg-ink/5 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden="true"
          className="mr-1 size-3 shrink-0 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
        />
        <Name name={name} />
        <span className="text-ink-3">{isList ? `[ ${entries.length} ]` : `{ ${entries.length} }`}</span>
      </summary>
      <div className="ml-1 border-l border-line pl-4">
        {entries.map(([key, inner]) => (
          <Value key={key} name={key} value={inner} depth={depth + 1} openDepth={openDepth} />
        ))}
      </div>
    </details>
  );
}

function Name({ name }: { name?: string | undefined }) {
  return name === undefined ? null : <span className="mr-1.5 text-ink-2">{name}:</span>;
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className="text-ink">{value === "" ? '""' : value}</span>;
  if (typeof value === "object" && value !== null)
    return <span className="text-ink-3">{Array.isArray(value) ? "[ ]" : "{ }"}</span>;
  return <span className="text-running">{value === undefined ? "nothing" : JSON.stringify(value)}</span>;
}
