"use client";

import { useQuery } from "@tanstack/react-query";
import { useTrpc } from "@/components/trpc";
import { Select } from "@/components/ui/input/select";
import type { FieldProps } from "../field-props";

/** One of the tools of this installation, by name. */
export function ToolField({ label, hint, error, value, onChange, hideLabel }: FieldProps) {
  const { data } = useQuery(useTrpc().tools.names.queryOptions());
  const name = typeof value === "string" ? value : "";
  const known = (data?.tools ?? []).map((tool) => ({
    value: tool.name,
    label: tool.name,
    hint: tool.is_unavailable
      ? "Cannot be called now; the Tools page says why"
      : firstSentence(tool.description),
  }));
  const isMissing = name !== "" && data !== undefined && !known.some((option) => option.value === name);
  return (
    <Select
      {...{ label, hideLabel, hint, error }}
      options={
        isMissing ? [...known, { value: name, label: name, hint: "There is no such tool here" }] : known
      }
      value={name || null}
      onValueChange={onChange}
      placeholder="Choose a tool…"
    />
  );
}

const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
