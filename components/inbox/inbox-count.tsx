"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { countOf } from "@/components/display/format";
import { useTitleCount } from "@/components/page/page-title";
import { useRunTicks } from "@/components/run/live/run-ticks";
import { type Answers, useTrpc } from "@/components/trpc";
import { useWantsNotices } from "./wants-notices";

/** How often a page that nobody looks at asks whether something new waits. */
const UNSEEN_MS = 30_000;

/** How many questions wait for an answer; null while that is not known. */
export function useInboxCount(): number | null {
  return useQuery(useTrpc().questions.count.queryOptions()).data?.open ?? null;
}

/** Keeps the count up to date, in the title of every page too, and tells of what is new where the person wants that. */
export function InboxWatch() {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const wantsNotices = useWantsNotices();
  const count = useQuery({
    ...trpc.questions.count.queryOptions(),
    // A page that nobody looks at asks only where it is to tell: asking keeps a person signed in.
    refetchInterval: wantsNotices ? UNSEEN_MS : false,
    refetchIntervalInBackground: true,
  }).data;
  useRunTicks(() => void queryClient.invalidateQueries(trpc.questions.pathFilter()));
  useTitleCount(count?.open ?? 0);
  useNewest(count, wantsNotices);
  return null;
}

/** Shows a notice of the browser for what came since the page was opened. It says how many wait, and nothing of what is asked. */
function useNewest(count: Answers["questions"]["count"] | undefined, isWanted: boolean): void {
  const seen = useRef<number | null>(null);
  useEffect(() => {
    if (!count) return;
    const { open, newest } = count;
    const before = seen.current;
    seen.current = Math.max(before ?? 0, newest?.asked_at ?? 0);
    if (before === null || newest === null || newest.asked_at <= before || !isWanted) return;
    const notice = new Notification(
      open === 1 ? "A question waits for you" : `${countOf(open, "question")} wait for you`,
      {
        body: "Open the inbox to look and answer.",
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
