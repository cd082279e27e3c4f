import type { Usage } from "@/server/domain/agent/outcome";

/** A length of time as people say it: "0.4 s", "12 s", "15 min", "3 min 05 s", "2 h 10 min". */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "0 s";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${two(whole % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${two(minutes % 60)} min`;
}

/** A running clock of constant width. */
export function formatClock(ms: number): string {
  const tenths = Math.max(0, Math.floor(ms / 100));
  const seconds = Math.floor(tenths / 10);
  if (seconds < 60) return `${seconds}.${tenths % 10} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)} min`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)} h`;
}

export function formatTokens(count: number): string {
  return count.toLocaleString("en-US");
}

/** "12", "3–40"; of two rounded numbers. */
export function formatRange(least: number, most: number): string {
  const round = (count: number) => (count < 100 ? Math.round(count) : Number(count.toPrecision(2)));
  const [from, to] = [round(least), round(most)].map(formatTokens);
  return from === to ? `${to}` : `${from}–${to}`;
}

/** "1 token", "2 tokens". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** The tokens of a call, with its reasoning tokens, and whether they are estimated. */
export function describeTokens({ input_tokens, output_tokens, reasoning_tokens, estimated }: Usage): string {
  const asides = [
    ...(reasoning_tokens > 0 ? [`${formatTokens(reasoning_tokens)} reasoning`] : []),
    ...(estimated ? ["estimated"] : []),
  ];
  return (
    countOf(input_tokens + output_tokens, "token") + (asides.length > 0 ? ` (${asides.join(", ")})` : "")
  );
}

/** "1st", "2nd", "3rd", "11th". */
export function ordinal(n: number): string {
  const rest = n % 100;
  if (rest >= 11 && rest <= 13) return `${n}th`;
  return `${n}${["th", "st", "nd", "rd"][n % 10] ?? "th"}`;
}

/** A list in words: "a", "a and b", "a, b and c". */
export function formatList(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** A size in bytes, such as "1.2 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
