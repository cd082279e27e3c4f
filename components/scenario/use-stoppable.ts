"use client";

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

/** A request that may cost money: it can be stopped, and stops when its component closes. */
export function useStoppable<Request, Report>(
  mutate: (request: Request, io: { signal: AbortSignal }) => Promise<Report>,
) {
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const run = useMutation({
    mutationFn: (request: Request) => {
      abort.current = new AbortController();
      return mutate(request, { signal: abort.current.signal });
    },
    onError: () => {},
  });
  const stop = () => {
    abort.current?.abort();
    run.reset();
  };
  return { run, stop };
}
