"use client";

import clsx from "clsx";
import { useState } from "react";
import { CopyButton, JsonView } from "@/components/ui/json-view";
import type { Json } from "@/server/domain/base/values";

/** Values by key: texts as texts, everything else as a tree. */
export function KeyValues({
  values,
  label,
  empty,
}: {
  values: Record<string, Json>;
  label: string;
  empty?: string;
}) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <p className="text-[13px] text-ink-3">{empty ?? "Nothing"}</p>;
  return (
    <dl aria-label={label} className="flex flex-col gap-3">
      {entries.map(([key, value]) => (
        <div key={key} className="min-w-0">
          <dt className="mb-1 font-mono text-xs text-ink-2">{key}</dt>
          <dd className="min-w-0">
            <ValueView value={value} label={`${key} of ${label}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** One value to read. */
export function ValueView({ value, label }: { value: Json; label: string }) {
  if (typeof value === "string") return <TextBlock text={value} label={label} />;
  if (value === null || typeof value !== "object")
    return <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-xs">{JSON.stringify(value)}</code>;
  return <JsonView value={value} label={label} />;
}

const LONG = 700;

/** A text to read: whole where it is short, folded where it is long. */
export function TextBlock({
  text,
  label,
  tone = "plain",
  mono,
}: {
  text: string;
  label: string;
  tone?: "plain" | "quiet" | "bare";
  mono?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > LONG || text.split("\n", 14).length > 13;
  return (
    <div
      className={clsx(
        "group/text relative min-w-0",
        tone !== "bare" && "rounded-lg border border-line px-3 py-2",
        tone === "plain" && "bg-raised",
        tone === "quiet" && "bg-sunken text-ink-2",
      )}
    >
      <div
        className={clsx(
          "whitespace-pre-wrap [overflow-wrap:anywhere]",
          mono ? "font-mono text-xs leading-5" : "text-[13px] leading-5",
          tone !== "bare" && "pr-6",
          isLong &&
            !isOpen &&
            "max-h-60 overflow-hidden [mask-image:linear-gradient(to_bottom,black_70%,transparent)]",
        )}
      >
        {text === "" ? <span className="text-ink-3">Empty text</span> : text}
      </div>
      {isLong ? (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="mt-1 text-xs font-medium text-accent hover:text-accent-hover pointer-coarse:py-2"
        >
          {isOpen ? "Show less" : "Show all"}
        </button>
      ) : null}
      {tone === "bare" || text === "" ? null : (
        <div className="absolute top-1 right-1 opacity-0 transition-opacity group-focus-within/text:opacity-100 group-hover/text:opacity-100 pointer-coarse:opacity-100">
          <CopyButton text={text} label={`Copy ${label}`} />
        </div>
      )}
    </div>
  );
}
