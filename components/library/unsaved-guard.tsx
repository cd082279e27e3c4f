"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { setLeaveGuard, setStepGuard } from "@/components/page/leaving";
import { ConfirmDialog } from "@/components/ui/overlay/confirm-dialog";

/** The page's index in the tab's history; undefined if the browser does not support it. */
const placeInHistory = () => ("navigation" in window ? window.navigation.currentEntry?.index : undefined);

/** Asks before a link, a history step, or closing the tab would lose unsaved changes. */
export function UnsavedGuard({
  active,
  what,
  onDiscard,
}: {
  active: boolean;
  what: string;
  onDiscard: () => void;
}) {
  const router = useRouter();
  const [going, setGoing] = useState<{ go: () => void } | null>(null);
  useEffect(() => {
    if (!active) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const opensInNewTab = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
      if (!link?.href || link.target === "_blank" || link.download || opensInNewTab) return;
      const to = new URL(link.href);
      if (to.origin !== window.location.origin) return;
      if (to.pathname + to.search === window.location.pathname + window.location.search) return;
      event.preventDefault();
      event.stopPropagation();
      setGoing({ go: () => router.push(to.pathname + to.search) });
    };
    const here = placeInHistory();
    let isReturning = false;
    let isReleased = false;
    const holdStep = () => {
      if (isReleased) return false;
      const now = placeInHistory();
      // Without support, assume one step back; the next step is then our own return.
      const steps = here !== undefined && now !== undefined ? now - here : isReturning ? 0 : -1;
      isReturning = steps !== 0;
      if (isReturning) {
        window.history.go(-steps);
        setGoing({
          go: () => {
            isReleased = true;
            window.history.go(steps);
          },
        });
      }
      return true;
    };
    setLeaveGuard((go) => setGoing({ go }));
    setStepGuard(holdStep);
    window.addEventListener("beforeunload", onUnload);
    // Before the handler of Next, which would navigate.
    document.addEventListener("click", onClick, { capture: true });
    return () => {
      setLeaveGuard(null);
      setStepGuard(null);
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onClick, { capture: true });
    };
  }, [active, router]);
  return (
    <ConfirmDialog
      open={going !== null}
      onOpenChange={(open) => (open ? undefined : setGoing(null))}
      title={`Discard changes to ${what}?`}
      description="They haven't been saved."
      cancel="Keep editing"
      confirm="Discard changes"
      danger
      onConfirm={() => {
        setGoing(null);
        onDiscard();
        going?.go();
      }}
    />
  );
}
