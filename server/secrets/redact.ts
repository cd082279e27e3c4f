import { HIDDEN, KEY_SHAPES } from "@/server/domain/base/key-shapes";
import { keysIn } from "@/server/domain/graph/secrets";

/** Shorter values would black out ordinary words. */
const SHORTEST = 8;

interface Loaded {
  values: Set<string>;
  pattern: RegExp | null;
}

declare global {
  var __troupeSecrets: Loaded | undefined;
}

globalThis.__troupeSecrets ??= { values: new Set(), pattern: null };
const loaded = globalThis.__troupeSecrets;

/** From now on this value is blacked out of logs, errors and events, in each way it may be written. */
export function registerSecret(value: string): void {
  if (value.length < SHORTEST || loaded.values.has(value)) return;
  for (const spelling of spellingsOf(value)) if (spelling.length >= SHORTEST) loaded.values.add(spelling);
  const longestFirst = [...loaded.values].sort((a, b) => b.length - a.length);
  loaded.pattern = new RegExp(longestFirst.map(escaped).join("|"), "g");
  for (const part of credentialsIn(value)) registerSecret(part);
}

/** Registers the variables whose names say that they are secret. */
export function registerNamedSecrets(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables))
    if (value && /(?:KEY|TOKEN|PASSWORD|SECRET)$/.test(name)) registerSecret(value.trim());
}

/** Registers keys that are typed into the nodes of a workflow, as far as they are no ordinary words. */
export function registerKeysIn({ nodes }: { nodes: Readonly<Record<string, { config?: unknown }>> }): void {
  for (const { config } of Object.values(nodes))
    for (const { value } of keysIn(config)) if (value.length >= 16 || /\d/.test(value)) registerSecret(value);
}

/** What only the value decides of the base64 of a longer text, such as a header, that has it behind `3n + before` bytes. */
function within(value: string, form: "base64" | "base64url", before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString(form).slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const AUTHORIZATION = /^([a-z][\w-]*) +(\S+)$/i;

/** The credentials behind the scheme of an Authorization header: of Basic the pair, the password, and a user who looks like a key. */
function credentialsIn(value: string): string[] {
  const [, scheme = "", credentials = ""] = AUTHORIZATION.exec(value) ?? [];
  // A passphrase of two words is no header, and each of its words is an ordinary one.
  if (!/^(?:bearer|basic|token|bot|key|api-?key)$/i.test(scheme) && !/\d/.test(credentials)) return [];
  const pair = /^basic$/i.test(scheme) ? Buffer.from(credentials, "base64").toString() : "";
  const colon = pair.indexOf(":");
  if (colon < 0) return [credentials];
  const [user, password] = [pair.slice(0, colon), pair.slice(colon + 1)];
  // Names of accounts are ordinary words, and e-mail addresses are needed; some services take a key as the user.
  return [credentials, pair, password, ...(password === "" || /^[^@\d]*\d[^@]*$/.test(user) ? [user] : [])];
}

/** The value, encoded as a whole, and with its special characters escaped as usual in JSON, addresses and HTML. */
function spellingsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const [hex, base64] = [bytes.toString("hex"), bytes.toString("base64")];
  const json = JSON.stringify(value).slice(1, -1);
  const percent = [value, base64].map(encodeURIComponent);
  percent.push(new URLSearchParams([["", value]]).toString().slice(1));
  return [
    ...[value, hex, hex.toUpperCase(), base64, json, json.replaceAll("/", "\\/")],
    ...[...percent, ...percent.map((text) => text.replace(/%../g, (byte) => byte.toLowerCase()))],
    json.replace(/[&<>'/]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
    value.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char),
    ...["base64" as const, "base64url" as const].flatMap((form) =>
      [0, 1, 2].map((at) => within(value, form, at)),
    ),
  ];
}
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" },
};

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text without secrets: those we hold, and what looks like a key. For logs and errors. */
export function redact(text: string): string {
  return withoutHeld(text).replace(KEY_SHAPES, HIDDEN);
}

/**
 * The value without the secrets in memory; the same object if it contains none. For events, which are people's own
 * text: only known secrets are removed. Free while no secret is loaded.
 */
export function redactJson<T>(value: T): T {
  // Texts remain texts, so the type is the same.
  return loaded.pattern ? (clean(value, 0) as T) : value;
}

/** How many characters at the end of a text may be the start of a secret in memory. */
export function heldBack(text: string): number {
  let longest = 0;
  for (const secret of loaded.values) {
    const first = secret.charAt(0);
    const end = text.length - longest;
    let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1));
    while (at >= 0 && at < end && !secret.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
    if (at >= 0 && at < end) longest = text.length - at;
  }
  return longest;
}

/** The text without the secrets that we hold. */
export function withoutHeld(text: string): string {
  return loaded.pattern && text.length >= SHORTEST ? text.replace(loaded.pattern, HIDDEN) : text;
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
