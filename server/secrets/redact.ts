/** Shorter values would black out ordinary words. */
const SHORTEST = 8;
const MARK = "[hidden]";

interface Loaded {
  values: Set<string>;
  pattern: RegExp | null;
}

declare global {
  var __troupeSecrets: Loaded | undefined;
}

globalThis.__troupeSecrets ??= { values: new Set(), pattern: null };
const loaded = globalThis.__troupeSecrets;

/** What keys look like, whoever they belong to. Each part is bounded and begins with fixed letters. */
const KEY_SHAPES =
  /\b(?:sk-[\w-]{16,200}|wf_[\w-]{40,60}|gh[pousr]_\w{30,100}|xox[abpr]-[\w-]{10,100}|AIza[\w-]{30,60}|AKIA[A-Z0-9]{16}|hf_\w{30,60})|\bBearer +[\w.~+/-]{16,400}=*/g;

/** From now on this value is blacked out of logs, errors and events, in each way it may be written. */
export function registerSecret(value: string): void {
  if (value.length < SHORTEST || loaded.values.has(value)) return;
  const bytes = Buffer.from(value);
  const spellings = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    bytes.toString("base64"),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    // Basic authentication encodes it behind a colon.
    Buffer.from(`:${value}`).toString("base64"),
  ];
  for (const spelling of spellings) if (spelling.length >= SHORTEST) loaded.values.add(spelling);
  const longestFirst = [...loaded.values].sort((a, b) => b.length - a.length);
  loaded.pattern = new RegExp(longestFirst.map(escaped).join("|"), "g");
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** The text without secrets: those we hold, and what looks like a key. For logs and errors. */
export function redact(text: string): string {
  return withoutHeld(text).replace(KEY_SHAPES, MARK);
}

/**
 * The value without the secrets we hold; the same object where there were none. For events, which are people's own
 * words: only what is known to be secret is taken out of them. Costs nothing while no secret is loaded.
 */
export function redactJson<T>(value: T): T {
  // Texts stay texts, so that the shape is the same.
  return loaded.pattern ? (clean(value, 0) as T) : value;
}

/** How many characters at the end of a text may be the beginning of a secret that we hold. */
export function heldBack(text: string): number {
  let longest = 0;
  for (const secret of loaded.values) {
    const most = Math.min(secret.length - 1, text.length);
    for (let length = most; length > longest; length--)
      if (text.endsWith(secret.slice(0, length))) {
        longest = length;
        break;
      }
  }
  return longest;
}

/** The text without the secrets that we hold. */
export function withoutHeld(text: string): string {
  return loaded.pattern && text.length >= SHORTEST ? text.replace(loaded.pattern, MARK) : text;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === "string") return withoutHeld(value);
  if (value === null || typeof value !== "object" || depth > 64) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | null = null;
    for (let i = 0; i < value.length; i++) {
      const after = clean(value[i], depth + 1);
      if (after !== value[i]) (copy ??= value.slice())[i] = after;
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | null = null;
  for (const [key, before] of Object.entries(value)) {
    const after = clean(before, depth + 1);
    const name = withoutHeld(key);
    if (after === before && name === key) continue;
    copy ??= { ...value };
    if (name !== key) delete copy[key];
    copy[name] = after;
  }
  return copy ?? value;
}
