"use client";

import { useEffect } from "react";

/** Names the browser's tab; null or "" as long as the name is not known. */
export function usePageTitle(title: string | null): void {
  useEffect(() => {
    if (title) document.title = `${title} · Troupe`;
  }, [title]);
}
