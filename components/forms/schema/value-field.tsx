"use client";

import { useState } from "react";
import { Button } from "@/components/ui/button";
import { SuggestField } from "@/components/ui/input/suggest-field";
import { StateKey } from "@/server/domain/base/values";
import { ExpressionField } from "../fields/expression-field";
import { useFormScope } from "../form-scope";
import { keyFacts, keySuggestions } from "../key-facts";

export interface ValueFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  value: string;
  onChange: (expression: string) => void;
}

const KEY = /^state\.([A-Za-z_]\w*)$/;

/** Picks a state key by name, or takes an expression. Both are stored as an expression. */
export function ValueField({ label, hint, error, value, onChange }: ValueFieldProps) {
  const scope = useFormScope();
  const [wantsText, setWantsText] = useState(false);
  // An invalid key stays here until it is valid.
  const [draft, setDraft] = useState<string | null>(null);
  const key = value === "" ? "" : KEY.exec(value)?.[1];
  if (wantsText || key === undefined)
    return (
      <div className="flex flex-col gap-1">
        <ExpressionField label={label} hint={hint} error={error} value={value} onChange={onChange} />
        {key === undefined ? null : (
          <Button size="sm" variant="ghost" className="self-start" onClick={() => setWantsText(false)}>
            Choose a key
          </Button>
        )}
      </div>
    );
  const shown = draft ?? key;
  const isInvalid = draft !== null && draft !== "" && !StateKey.safeParse(draft).success;
  const { kind, values } = keyFacts(scope.graph, key, scope.node?.id);
  const known = [kind, values.length > 0 ? values.join(", ") : undefined].filter(Boolean).join(": ");
  return (
    <div className="flex flex-col gap-1">
      <SuggestField
        label={label}
        hint={known ? `${key} is ${known}. ${hint ?? ""}` : hint}
        error={isInvalid ? "Use letters, digits and _, or edit as an expression." : error}
        mono
        placeholder="Choose a key…"
        suggestions={keySuggestions(scope)}
        value={shown}
        onValueChange={(text) => {
          const name = text.trim().replace(/^state\./, "");
          const isKey = name === "" || StateKey.safeParse(name).success;
          setDraft(isKey ? null : name);
          if (isKey) onChange(name === "" ? "" : `state.${name}`);
        }}
      />
      <Button size="sm" variant="ghost" className="self-start" onClick={() => setWantsText(true)}>
        Edit as expression
      </Button>
    </div>
  );
}
