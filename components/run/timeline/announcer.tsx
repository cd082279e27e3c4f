"use client";

import { useEffect, useMemo, useState } from "react";
import { useRun, useRunViewStore } from "../run-context";
import { ANNOUNCED } from "./announced";
import { newNames } from "./sentence-words";
import { sentenceOf } from "./sentences";

const EVERY_MS = 1_500;

/** Tells screen readers how the run goes; what comes in quick succession is told together. */
export function RunAnnouncer() {
  const store = useRunViewStore();
  const graph = useRun((view) => view.head.graph, null);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (!store) return;
    // What was there before the page opened is not news.
    let told: number | null = null;
    const timer = setInterval(() => {
      const { events, lastSeq, cursor, connection } = store.view.getState();
      if (told === null) {
        if (connection === "live" || connection === "ended") told = lastSeq;
        return;
      }
      if (lastSeq === told || cursor !== null) return;
      const news = events.slice(told, lastSeq).filter(({ type }) => ANNOUNCED[type]);
      told = lastSeq;
      if (news.length > 0)
        setWords(
          news
            .slice(-3)
            .map((event) => sentenceOf(event, names).text)
            .join(". "),
        );
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [store, names]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {words}
    </p>
  );
}
