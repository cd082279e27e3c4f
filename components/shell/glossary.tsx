"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTrpc } from "@/components/trpc";
import { GlossaryContext } from "@/components/ui/term";

const NONE = {};

/** Explains the terms of the glossary wherever a label is one. */
export function Glossary({ children }: { children: ReactNode }) {
  const { data } = useQuery({ ...useTrpc().docs.terms.queryOptions(), staleTime: Number.POSITIVE_INFINITY });
  return <GlossaryContext value={data ?? NONE}>{children}</GlossaryContext>;
}
