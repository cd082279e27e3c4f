"use client";

import { Bell, BellRing } from "lucide-react";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";
import { useNoticePermission, useWantsNotices, wantNotices } from "./wants-notices";

/** Lets this browser tell of new questions while a page of Troupe is open; asked for by this click alone. */
export function BrowserNotices() {
  const permission = useNoticePermission();
  const isOn = useWantsNotices();
  if (permission === "missing") return null;
  const turn = () =>
    permission === "denied"
      ? toast(
          "This browser shows no notifications of Troupe. Allow them in its settings for this site first.",
        )
      : void wantNotices(!isOn);
  return (
    <Button aria-pressed={isOn} icon={isOn ? <BellRing aria-hidden /> : <Bell aria-hidden />} onClick={turn}>
      {isOn ? "Notifies you" : "Notify me"}
    </Button>
  );
}
