/**
 * Regular expressions that people write. They run in the sandbox, where one that never ends is stopped; here it is
 * said before. What repeats inside of what repeats can be split in countless ways, unless something that must come in
 * between tells the rounds apart: `(a+)+` is refused, `(,a+)+` is not.
 */

const MAX_LENGTH = 1000;
/** So many rounds are as bad as any number. */
const MANY = 10;
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

type Part =
  | { kind: "one"; fits: ReadonlySet<string> }
  | { kind: "nothing" }
  | { kind: "group"; ways: Part[][] }
  | { kind: "repeat"; of: Part; isMany: boolean; isOptional: boolean };

/** What is wrong with a pattern, for whoever writes it; null if nothing is. */
export function patternFault(pattern: string): string | null {
  if (pattern === "") return "Write a pattern, for example ^[A-Z].";
  if (pattern.length > MAX_LENGTH) return `A pattern has at most ${MAX_LENGTH} characters.`;
  try {
    new RegExp(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message.split(": ").at(-1) : undefined;
    return `This is no pattern yet${why ? `: ${why.toLowerCase()}` : ""}.`;
  }
  return isDangerous({ kind: "group", ways: new Reader(pattern).ways() })
    ? "Refused: it repeats what repeats by itself, as (a+)+ does, and might never end. Let one thing repeat, or put something between the rounds."
    : null;
}

function isDangerous(part: Part): boolean {
  if (part.kind === "group") return part.ways.flat().some(isDangerous);
  if (part.kind !== "repeat") return false;
  if (part.isMany && part.of.kind === "group") {
    const { ways } = part.of;
    if (
      ways.some(isAmbiguous) ||
      ways.some((way, at) => ways.slice(at + 1).some((other) => mayBoth(way, other)))
    )
      return true;
  }
  return isDangerous(part.of);
}

/** Whether one round of a repetition could as well be several. */
function isAmbiguous(way: Part[]): boolean {
  const between = way.filter((part) => part.kind === "one" || (part.kind === "repeat" && !part.isOptional));
  return way
    .flatMap(repeatsIn)
    .some((inner) => !between.some((part) => !overlap(signsOf(part), signsOf(inner))));
}

/** Whether two ways of one sign each can take the same. */
function mayBoth(way: Part[], other: Part[]): boolean {
  const [a] = way;
  const [b] = other;
  return (
    way.length === 1 &&
    other.length === 1 &&
    a?.kind === "one" &&
    b?.kind === "one" &&
    overlap(a.fits, b.fits)
  );
}

function repeatsIn(part: Part): Part[] {
  if (part.kind === "group") return part.ways.flat().flatMap(repeatsIn);
  if (part.kind !== "repeat") return [];
  return part.isMany ? [part] : repeatsIn(part.of);
}

function signsOf(part: Part): ReadonlySet<string> {
  if (part.kind === "one") return part.fits;
  if (part.kind === "repeat") return signsOf(part.of);
  return part.kind === "group"
    ? new Set(part.ways.flat().flatMap((inner) => [...signsOf(inner)]))
    : new Set();
}

const overlap = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].some((sign) => b.has(sign));

/** Reads a pattern that is known to be one, from left to right. */
class Reader {
  private at = 0;
  constructor(private readonly source: string) {}

  ways(): Part[][] {
    const ways: Part[][] = [[]];
    while (this.at < this.source.length && this.source[this.at] !== ")") {
      if (this.source[this.at] === "|") {
        this.at++;
        ways.push([]);
      } else ways.at(-1)!.push(this.repeated());
    }
    return ways;
  }

  private repeated(): Part {
    const of = this.one();
    const found = this.take(/^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/);
    if (!found) return of;
    const [sign, least, comma, most] = found;
    const isMany =
      /^[*+]/.test(sign) ||
      (comma !== undefined && (most === "" || Number(most) >= MANY) && Number(least) !== Number(most));
    return { kind: "repeat", of, isMany, isOptional: /^[*?]/.test(sign) || least === "0" };
  }

  private one(): Part {
    if (this.take(/^(?:\^|\$|\\b|\\B)/)) return { kind: "nothing" };
    if (this.take(/^\((?:\?(?:<?[=!]|:|<[^>]*>))?/)) {
      const ways = this.ways();
      this.at++;
      return { kind: "group", ways };
    }
    const [source = ""] =
      this.take(/^\[(?:\\[\s\S]|[^\]\\])*\]|^\\(?:x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|c[A-Za-z]|[\s\S])|^[\s\S]/) ??
      [];
    return { kind: "one", fits: fitting(source) };
  }

  private take(what: RegExp): RegExpExecArray | null {
    const found = what.exec(this.source.slice(this.at));
    if (found) this.at += found[0].length;
    return found;
  }
}

/** The usual signs that one place of a pattern takes; a reference back may take any. */
function fitting(source: string): ReadonlySet<string> {
  if (/^\\[1-9k]/.test(source)) return new Set(ASCII);
  const pattern = new RegExp(`^${/^[{}\]]$/.test(source) ? `\\${source}` : source}$`);
  return new Set(ASCII.filter((sign) => pattern.test(sign)));
}
