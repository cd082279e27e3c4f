"use client";

import { useLayoutEffect } from "react";

const COUNT = /^\(\d+\) /;

/** Changes the tab's title, and again whenever the framework replaces it. Returns how to stop. */
function keepTitle(titleOf: (current: string) => string): () => void {
  const apply = () => {
    const wanted = titleOf(document.title);
    if (document.title !== wanted) document.title = wanted;
  };
  apply();
  const observer = new MutationObserver(apply);
  observer.observe(document.head, { subtree: true, childList: true, characterData: true });
  return () => observer.disconnect();
}

/** Titles the tab; null or "" while the name is not known. Keeps the count in front. */
export function usePageTitle(title: string | null): void {
  useLayoutEffect(() => {
    if (!title) return;
    return keepTitle((current) => `${COUNT.exec(current)?.[0] ?? ""}${title} · Troupe`);
  }, [title]);
}

/** Puts a count in front of the tab's title; 0 removes it. */
export function useTitleCount(count: number): void {
  useLayoutEffect(
    () => keepTitle((current) => `${count > 0 ? `(${count}) ` : ""}${current.replace(COUNT, "")}`),
    [count],
  );
}
