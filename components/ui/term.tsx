"use client";

import { createContext, useContext } from "react";
import { Tooltip } from "./overlay/tooltip";

/** Meanings of terms by their name in lower case and singular. Empty until they are loaded. */
export const GlossaryContext = createContext<Readonly<Record<string, string>>>({});

/** A label. If it is a term of the glossary, its meaning appears on hover. */
export function Term({ children: text }: { children: string }) {
  const meanings = useContext(GlossaryContext);
  const name = text.toLowerCase();
  const key = [name, name.replace(/s$/, "")].find((one) => Object.hasOwn(meanings, one));
  if (key === undefined) return text;
  return (
    <Tooltip content={meanings[key]}>
      <span className="cursor-help underline decoration-ink-3 decoration-dotted underline-offset-4">
        {text}
      </span>
    </Tooltip>
  );
}
