export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Tools that send HTTP requests, and so can send secrets. */
export const SECRET_TOOLS: readonly string[] = ["http_request", "http_write"];
/** Their arguments in which secrets are filled in; nodes add query parameters to the URL. */
export const SECRET_ARGUMENTS: ReadonlySet<string> = new Set(["headers", "body"]);

/**
 * An argument of a call that contains stand-ins of secrets. Only nodes create these, from settings that a person wrote. The
 * same text in a value is plain text.
 */
export interface SecretUse {
  /** The place of the text in the arguments; ["url", NAME] is a query parameter. */
  at: string[];
  names: string[];
}

/** What the checks of a workflow know about a secret. */
export interface KnownSecret {
  hosts: readonly string[];
  /** Whether this workflow may use it. */
  isForThis: boolean;
}

/**
 * A reference to a secret in settings: `{"$secret": "NAME"}`, as a value or within a text such as
 * `Bearer {"$secret": "NAME"}`. In a JSON string, its quotes are escaped.
 */
const REFERENCE = /\{\s*(\\?)"\$secret\1"\s*:\s*\1"([A-Za-z][A-Za-z0-9_-]{0,63})\1"\s*\}/g;

/** The reference to a secret in the settings of a node. */
export const secretText = (name: string): string => `{"$secret": "${name}"}`;

/** The stand-in for a secret in the arguments of calls, which are recorded and shown. */
export const standIn = (name: string): string => `{"$secret":"${name}"}`;

/** The name in a value that is nothing but a reference to a secret; null for any other value. */
export function secretBehind(value: unknown): string | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const [entry, ...more] = Object.entries(value);
  const name: unknown = entry?.[0] === "$secret" && more.length === 0 ? entry[1] : null;
  return typeof name === "string" && SECRET_NAME.test(name) ? name : null;
}

/** The references to secrets in a text, and the text between them. */
export function splitAtSecrets(text: string): {
  between: string[];
  found: { name: string; escape: string }[];
} {
  const between: string[] = [];
  const found: { name: string; escape: string }[] = [];
  let from = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, escape = "", name = ""] = match;
    between.push(text.slice(from, match.index));
    found.push({ name, escape });
    from = match.index + whole.length;
  }
  return { between: [...between, text.slice(from)], found };
}

/** The names in a text or value of the settings, one for each reference. */
export const secretsIn = (value: unknown): string[] =>
  splitAtSecrets(typeof value === "string" ? value : JSON.stringify(value)).found.map(({ name }) => name);

/** How many places in the settings look like a reference to a secret, valid or not. */
export const countReferences = (settings: unknown): number =>
  JSON.stringify(settings)?.match(/\$secret\\*"/g)?.length ?? 0;

/** Replaces stand-ins with values. Inserted values are not scanned again. */
export const fillIn = (text: string, valueOf: ReadonlyMap<string, string>): string =>
  text.replace(/\{"\$secret":"([\w-]+)"\}/g, (whole, name: string) => valueOf.get(name) ?? whole);

/** Whether a secret may be sent to a host: listed exactly, or covered by a wildcard (`*.`). */
export const isHostOf = (hosts: readonly string[], host: string): boolean =>
  hosts.some((one) =>
    one.startsWith("*.") ? host.endsWith(one.slice(1)) && host.length >= one.length : one === host,
  );
