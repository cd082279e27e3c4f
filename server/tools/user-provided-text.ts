import { must } from "@/server/domain/base/must";

/** What a person wrote, ready to be asked whether an address, an account or a name stands in it as a whole. */
export class UserProvidedText {
  private readonly emails = new Set<string>();
  private readonly accounts = new Set<string>();
  /** Hosts, with the first parts of the paths that were named there; "" stands for the whole host. */
  private readonly hosts = new Map<string, Set<string>>();
  /** All words in order, each between spaces; a text ends with a line break, so that no name spans two. */
  private readonly normalized: string;

  constructor(texts: Iterable<string>) {
    const lines: string[] = [];
    for (const text of new Set(texts)) {
      const between = text.split(PLACEHOLDER).map((part) => tokenize(part).join(" "));
      lines.push(` ${between.join(" * ").replace(/ {2,}/g, " ").trim()} `);
      for (const account of accountsIn(text)) this.accounts.add(account);
      for (const { kind, value } of addressesIn(text, { bareHosts: true })) {
        if (kind === "email") this.emails.add(value);
        else this.nameHost(value);
      }
    }
    this.normalized = lines.join("\n");
  }

  private nameHost(address: string): void {
    const place = placeOf(address);
    if (!place) return;
    let parts = this.hosts.get(place.host);
    if (!parts) this.hosts.set(place.host, (parts = new Set()));
    parts.add(place.part);
  }

  /** Whether this web address leads to a host that is named here; where only a page of it is, to pages beside it. */
  hasAddress(address: string): boolean {
    const place = placeOf(address);
    const parts = place && this.hosts.get(place.host);
    return parts ? parts.has("") || parts.has(place.part) : false;
  }

  hasEmail(email: string): boolean {
    return this.emails.has(email.toLowerCase());
  }

  /** An account or a telephone number, however it is spaced. */
  hasAccount(account: string): boolean {
    return this.accounts.has(compact(account));
  }

  /**
   * Whether these words stand here, one after the other, each as a whole. Where the person wrote a form with a gap,
   * such as "Minutes of {date}", the gap stands for any words.
   */
  hasName(name: string): boolean {
    const tokens = tokenize(name);
    if (tokens.length === 0 || tokens.length > 50 || tokens.every((word) => EVERYDAY.has(word))) return false;
    if (this.normalized.includes(` ${tokens.join(" ")} `)) return true;
    if (!this.normalized.includes(" * ")) return false;
    const isSignificant = (some: string[]) => some.some((word) => !EVERYDAY.has(word));
    for (let before = 0; before < tokens.length; before++)
      for (let after = before + 1; after <= tokens.length; after++) {
        const [head, tail] = [tokens.slice(0, before), tokens.slice(after)];
        if (
          (isSignificant(head) || isSignificant(tail)) &&
          this.normalized.includes(` ${[...head, "*", ...tail].join(" ")} `)
        )
          return true;
      }
    return false;
  }

  /**
   * An identifier. A short number is found in many texts by chance: it counts only where it is called by its kind,
   * such as "file 13", "id 13" or "no. 13".
   */
  hasId(id: string, kind: string): boolean {
    const tokens = tokenize(id);
    if (tokens.length !== 1 || !/^\d{1,4}$/.test(must(tokens, 0))) return this.hasName(id);
    const called = tokenize(kind).filter((word) => word !== "id" && word !== "ids");
    return ["id", "no", "nr", "number", ...called].some((label) =>
      this.normalized.includes(` ${label} ${tokens[0]} `),
    );
  }

  /** Those of the words that stand nowhere here. */
  missing(text: string): string[] {
    return tokenize(text).filter((word) => !EVERYDAY.has(word) && !this.normalized.includes(` ${word} `));
  }
}

/** A gap that is to be filled in: {date}, {{state.date}}. */
const PLACEHOLDER = /\{{1,2}[^{}\n]{1,100}\}{1,2}/;

/** Words that say nothing of whom or what they mean. */
const EVERYDAY: ReadonlySet<string> = new Set(
  "a all an and any are as at be by can do for from has have i id in is it me my no not of on one or our so that the them they this to us was we what with you your".split(
    " ",
  ),
);

/** A text as words: small letters and digits, in the one spelling of each character. */
export function tokenize(text: string): string[] {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

/**
 * The stretches of a text that are not made of words that stood there before: what its writer has added. Whoever changes
 * a text, or answers to one, does not vouch for what they only repeat.
 */
export function addedPhrases(text: string, before: string): string[] {
  const known = new Set(tokenize(before));
  const phrases: string[] = [""];
  for (const part of text.split(/([\s,;<>()[\]{}"'`|]+)/)) {
    const tokens = tokenize(part);
    if (tokens.length > 0 && tokens.every((word) => known.has(word))) phrases.push("");
    else phrases.push((phrases.pop() ?? "") + part);
  }
  return phrases.map((phrase) => phrase.trim()).filter((phrase) => tokenize(phrase).length > 0);
}

/** Longer ones are no addresses that people write. */
const LONGEST_ADDRESS = 4_000;
/** Endings of hosts that are taken for hosts in running text, also without https:// or www before them. */
const ENDINGS =
  /\.(com|net|org|io|dev|app|co|info|biz|xyz|ai|me|eu|uk|de|fr|ch|at|nl|es|it|pl|ru|cn|jp|in|br|us|ca|au|site|online|top|link|click|cloud|live|page|test|example|invalid)$/;
const HOST = /^[\p{L}\p{N}_-]{1,63}(?:\.[\p{L}\p{N}_-]{1,63}){1,8}$/u;

export interface Address {
  kind: "web" | "email";
  value: string;
}

/**
 * The web and email addresses in a text. `bareHosts`: anything that looks like a host is one; otherwise only what begins
 * with a scheme or www, has a path, or ends as hosts usually do, so that file names are not included.
 */
export function addressesIn(text: string, { bareHosts = false } = {}): Address[] {
  const found: Address[] = [];
  for (const chunk of text.split(/[\s"'`<>()[\]{}|,;\\*]+/)) {
    const word = chunk.slice(0, LONGEST_ADDRESS).replace(/(?<![.!?:])[.!?:]+$/, "");
    const scheme = /(?:https?|wss?|ftp):\/\//i.exec(word);
    if (scheme) {
      found.push({ kind: "web", value: word.slice(scheme.index) });
      continue;
    }
    for (const part of word.split("=")) {
      const address = schemelessAddress(part, bareHosts);
      if (address) found.push(address);
    }
  }
  return found;
}

function schemelessAddress(part: string, bareHosts: boolean): Address | undefined {
  const email = /^(?:mailto:)?([^@:/]{1,64}@[^@:/?]{1,250})/i.exec(part)?.[1];
  if (email && HOST.test(email.slice(email.indexOf("@") + 1)))
    return { kind: "email", value: email.toLowerCase() };
  const bare = part.replace(/^\/\//, "");
  const end = bare.search(/[/:?#]/);
  const host = (end < 0 ? bare : bare.slice(0, end)).toLowerCase();
  if (!HOST.test(host) || (/^[\d.]*\.\d{0,2}$/.test(host) && !isIp(host))) return undefined;
  const hasPath = end >= 0 && bare[end] === "/";
  const isHost = bareHosts || hasPath || /^www\./.test(host) || ENDINGS.test(host) || isIp(host);
  return isHost ? { kind: "web", value: bare } : undefined;
}

const isIp = (host: string) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);

/** Account numbers and telephone numbers in a text, without spaces. */
function accountsIn(text: string): string[] {
  const ibans =
    text.match(/\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?\b/g) ?? [];
  const numbers = text.match(/\+?\d[\d ()./-]{5,30}\d/g) ?? [];
  const plain = text.match(/\b[A-Za-z0-9]{6,40}\b/g) ?? [];
  return [...ibans, ...numbers, ...plain.filter((word) => /\d/.test(word))].map(compact);
}

const compact = (account: string) => account.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase();

/** Whether a value is written as bank accounts or international telephone numbers are. */
export function isAccount(value: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(compact(value)) || /^\s*\+[\d ()./-]{7,30}$/.test(value);
}

/** A web address as its host and the first part of its path; null where it is none. */
export function placeOf(address: string): { host: string; part: string } | null {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
  try {
    const { hostname, pathname, port } = new URL(whole);
    const host = hostname.replace(/\.$/, "").replace(/^www\./, "");
    return host ? { host: port ? `${host}:${port}` : host, part: pathname.split("/")[1] ?? "" } : null;
  } catch {
    return null;
  }
}
