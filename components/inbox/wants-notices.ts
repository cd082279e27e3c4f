import { useSyncExternalStore } from "react";

const KEY = "troupe:browser-notices";
const listeners = new Set<() => void>();

function subscribe(onChange: () => void): () => void {
  listeners.add(onChange);
  window.addEventListener("storage", onChange);
  return () => {
    listeners.delete(onChange);
    window.removeEventListener("storage", onChange);
  };
}

/** What this browser would do: `denied` where the person has told it to show none. */
type Permission = NotificationPermission | "missing";

const permission = (): Permission => ("Notification" in window ? Notification.permission : "missing");
const isOn = () => permission() === "granted" && localStorage.getItem(KEY) === "on";

/** Whether this browser tells of new questions; false on the server. */
export const useWantsNotices = (): boolean => useSyncExternalStore(subscribe, isOn, () => false);
export const useNoticePermission = (): Permission =>
  useSyncExternalStore(subscribe, permission, () => "missing" as const);

/** Switches it on or off. The browser is asked for its permission only here: by a click of the person. */
export async function wantNotices(wanted: boolean): Promise<void> {
  if (wanted && permission() === "default") await Notification.requestPermission();
  localStorage.setItem(KEY, wanted ? "on" : "off");
  for (const listener of listeners) listener();
}
