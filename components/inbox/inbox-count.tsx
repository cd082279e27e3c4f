"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { countOf } from "@/components/display/format";
import { useTitleCount } from "@/components/page/page-title";
import { useRunTicks } from "@/components/run/live/run-ticks";
import { type Answers, useTrpc } from "@/components/trpc";
import { useWantsNotices } from "./wants-notices";

/** The polling interval of a hidden page. */
const UNSEEN_MS = 30_000;

/** How many questions wait for an answer; null while that is not known. */
export function useInboxCount(): number | null {
  return useQuery(useTrpc().questions.count.queryOptions()).data?.open ?? null;
}

/** Keeps the count up to date, also in the page title, and shows notifications of new questions if wanted. */
export function InboxWatch() {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const wantsNotices = useWantsNotices();
  const count = useQuery({
    ...trpc.questions.count.queryOptions(),
    // A hidden page polls only for notifications, because polling keeps the session alive.
    refetchInterval: wantsNotices ? UNSEEN_MS : false,
    refetchIntervalInBackground: true,
  }).data;
  useRunTicks(() => void queryClient.invalidateQueries(trpc.questions.pathFilter()));
  useTitleCount(count?.open ?? 0);
  useNewest(count, wantsNotices);
  return null;
}

/** Shows a browser notification of questions since the page was opened: their number, but nothing of their content. */
function useNewest(count: Answers["questions"]["count"] | undefined, isWanted: boolean): void {
  const seen = useRef<number | null>(null);
  useEffect(() => {
    if (!count) return;
    const { open, newest } = count;
    const before = seen.current;
    seen.current = Math.max(before ?? 0, newest?.asked_at ?? 0);
    if (before === null || newest === null || newest.asked_at <= before || !isWanted) return;
    const notice = new Notification(
      open === 1 ? "1 question needs your answer" : `${countOf(open, "question")} need your answer`,
      {
        body: "Open the inbox to respond.",
        tag: "troupe-inbox",
      },
    );
    notice.onclick = () => {
      window.focus();
      const { run_id, interaction_id } = newest;
      window.location.assign(`/inbox?${new URLSearchParams({ run: run_id, question: interaction_id })}`);
    };
  }, [count, isWanted]);
}
