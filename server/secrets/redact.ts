import { HIDDEN, KEY_SHAPES } from "@/server/domain/base/key-shapes";
import { keysIn } from "@/server/domain/graph/secrets";

/** Shorter values would black out ordinary words. */
const SHORTEST = 8;

interface Loaded {
  /** As they are, and encoded as a whole, each with the source of an expression that finds it. */
  written: Map<string, string>;
  /** Also in the usual ways to escape single characters. */
  values: Set<string>;
  pattern: RegExp | null;
}

declare global {
  var __troupeSecrets: Loaded | undefined;
}

globalThis.__troupeSecrets ??= { written: new Map(), values: new Set(), pattern: null };
const loaded = globalThis.__troupeSecrets;

/** From now on this value is blacked out of logs, errors and events, in each way it may be written. */
export function registerSecret(value: string): void {
  if (value.length < SHORTEST || loaded.values.has(value)) return;
  const bytes = Buffer.from(value);
  const written = [
    ...[value, bytes.toString("hex"), bytes.toString("hex").toUpperCase(), bytes.toString("base64")],
    ...["base64" as const, "base64url" as const].flatMap((form) =>
      [0, 1, 2].map((at) => within(value, form, at)),
    ),
  ].filter(({ length }) => length >= SHORTEST);
  for (const text of written) loaded.written.set(text, anySpelling(text));
  for (const spelling of [...written, ...escapedForms(value)]) loaded.values.add(spelling);
  const longestFirst = [...loaded.written].sort(([a], [b]) => b.length - a.length);
  loaded.pattern = new RegExp(longestFirst.map(([, source]) => source).join("|"), "g");
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

/** The usual ways to escape its special characters. */
function escapedForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const encoded = [encodeURIComponent(value), new URLSearchParams([["", value]]).toString().slice(1)];
  return [
    ...[json, json.replaceAll("/", "\\/"), ...encoded],
    ...encoded.map((text) => text.replace(/%../g, (byte) => byte.toLowerCase())),
    value.replace(/[&<>"']/g, (char) => (char === "'" ? "&#39;" : `&${ENTITIES[char] ?? ""};`)),
    value.replace(/[&<>'=+/]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  ];
}

/** Names of characters in HTML. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" },
  ...{ "/": "sol", "+": "plus", "=": "equals" },
};

const anyCase = (hex: string) => hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

/** The source of an expression that finds a text, however its special characters are escaped, and also if twice. */
const anySpelling = (text: string): string =>
  text.replace(/[^\w-]/gu, (char) => {
    if (char === ".") return "\\.";
    const code = char.codePointAt(0) ?? 0;
    const literal = /[$()*+?[\\\]^{|}/]/.test(char) ? `\\${char}` : char;
    const letter = /^\\([a-z])$/.exec(JSON.stringify(char).slice(1, -1))?.[1];
    const units = char.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
    const bytes = Buffer.from(char).toString("hex").match(/../g) ?? [];
    const name = ENTITIES[char];
    return `(?:${[
      `\\\\{0,4}${literal}`,
      ...(letter ? [`\\\\{1,4}${letter}`] : []),
      ...(char === " " ? ["\\+"] : []),
      units.map((unit) => `\\\\{1,4}u${anyCase(unit)}`).join(""),
      bytes.map((byte) => `%(?:25){0,2}${anyCase(byte)}`).join(""),
      `&(?:amp;){0,2}(?:${name ? `${name}|` : ""}#0{0,4}${code}|#[xX]0{0,4}${anyCase(code.toString(16))});`,
    ].join("|")})`;
  });

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
