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

/** The notification permission of this browser. */
type Permission = NotificationPermission | "missing";

const permission = (): Permission => ("Notification" in window ? Notification.permission : "missing");
const isOn = () => permission() === "granted" && localStorage.getItem(KEY) === "on";

/** Whether this browser shows notifications of new questions; false on the server. */
export const useWantsNotices = (): boolean => useSyncExternalStore(subscribe, isOn, () => false);
export const useNoticePermission = (): Permission =>
  useSyncExternalStore(subscribe, permission, () => "missing" as const);

/** Turns notifications on or off. Call it only on a click: it asks for permission. */
export async function wantNotices(wanted: boolean): Promise<void> {
  if (wanted && permission() === "default") await Notification.requestPermission();
  localStorage.setItem(KEY, wanted ? "on" : "off");
  for (const listener of listeners) listener();
}
