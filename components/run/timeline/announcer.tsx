"use client";

import { useEffect, useMemo, useState } from "react";
import { useRun, useRunViewStore } from "../run-context";
import { ANNOUNCED } from "./announced-events";
import { newNames } from "./sentence-parts";
import { sentenceOf } from "./sentences";

const EVERY_MS = 1_500;

/** Tells screen readers how the run goes; what comes in quick succession is told together. */
export function RunAnnouncer() {
  const store = useRunViewStore();
  const graph = useRun((view) => view.head.graph, null);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    if (!store) return;
    // What was there before the page opened is not news.
    let announcedSeq: number | null = null;
    const timer = setInterval(() => {
      const { events, lastSeq, cursor, connection } = store.view.getState();
      if (announcedSeq === null) {
        if (connection === "live" || connection === "ended") announcedSeq = lastSeq;
        return;
      }
      if (lastSeq === announcedSeq || cursor !== null) return;
      const news = events.slice(announcedSeq, lastSeq).filter(({ type }) => ANNOUNCED[type]);
      announcedSeq = lastSeq;
      if (news.length > 0)
        setAnnouncement(
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
      {announcement}
    </p>
  );
}
