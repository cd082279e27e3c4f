import type { HelpSection } from "@/components/page/page-commands";

/** What keys do in the time of a run. */
export type TimeCommand = "back" | "forward" | "play" | "unit" | "previous" | "next" | "now";

interface TimeKey {
  id: TimeCommand;
  label: string;
  /** As `Kbd` takes them. */
  keys: string;
}

/** The keys of a run's time, for the page and for the help. */
export const timeKeys: readonly TimeKey[] = [
  { id: "back", label: "Step back", keys: "," },
  { id: "forward", label: "Step forward", keys: "." },
  { id: "previous", label: "Previous match", keys: "alt+," },
  { id: "next", label: "Next match", keys: "alt+." },
  { id: "unit", label: "Change step size", keys: "T" },
  { id: "play", label: "Play or pause", keys: "K" },
  { id: "now", label: "Jump to end", keys: "E" },
];

export const TIME_HELP: HelpSection = { title: "Timeline", shortcuts: timeKeys };

/** What a key press means in the time of a run; null: nothing. */
export function timeCommandOf(event: KeyboardEvent): TimeCommand | null {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return null;
  const found = timeKeys.find(({ keys }) => {
    const [first, second] = keys.split("+");
    const key = second ?? first ?? "";
    return event.altKey === (second !== undefined) && isKey(event, key);
  });
  return found?.id ?? null;
}

/** With Alt some keyboards write another sign: then the place of the key counts. */
const isKey = (event: KeyboardEvent, key: string): boolean =>
  event.key.toLowerCase() === key.toLowerCase() || (event.altKey && event.code === CODES[key]);
const CODES: Readonly<Record<string, string>> = { ",": "Comma", ".": "Period" };
