"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useTrpc } from "@/components/trpc";
import { GlossaryContext } from "@/components/ui/term";
import { whenIdle } from "@/components/ui/when-idle";

const NONE = {};

/** Explains the terms of the glossary wherever a label is one. Loaded after the page, which does not need it. */
export function Glossary({ children }: { children: ReactNode }) {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => whenIdle(() => setIdle(true)), []);
  const { data } = useQuery({
    ...useTrpc().docs.terms.queryOptions(),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isIdle,
  });
  return <GlossaryContext value={data ?? NONE}>{children}</GlossaryContext>;
}
