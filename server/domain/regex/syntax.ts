import { lastOf, must, present } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";

/**
 * Reads regular expressions of ECMAScript (with the flag `u`, and as forgiving as without it where nothing can be
 * mistaken) as far as a linear-time engine can run them. What it cannot is refused with the reason.
 */

/** A set of code points. */
export interface SignSet {
  isNegated: boolean;
  /** Both ends belong to it. */
  ranges: [number, number][];
  /** Sets that are part of it. */
  inner: SignSet[];
  /** A property such as `L` or `Script=Greek`, tried on one code point at a time. */
  property?: RegExp;
}
export type Edge = "start" | "end" | "word" | "inside";
export type PatternPart =
  | { kind: "one"; set: SignSet }
  | { kind: "edge"; edge: Edge }
  | { kind: "all"; parts: PatternPart[] }
  | { kind: "any"; alternatives: PatternPart[] }
  | { kind: "repeat"; of: PatternPart; least: number; most: number };
/** What must follow, or must not, at the very start of the text. */
export interface Ahead {
  of: PatternPart;
  isNegated: boolean;
}
export interface Pattern {
  part: PatternPart;
  aheads: Ahead[];
}

/** Why a pattern cannot be run. `isValid`: it is a regular expression, but one that takes more than linear time. */
export class PatternError extends namedError("PatternError") {
  constructor(
    message: string,
    readonly isValid: boolean,
  ) {
    super(message);
  }
}

export const MAX_PATTERN_CHARS = 5_000;
const MAX_GROUPS = 100;
const LAST = 0x10ffff;

const set = (ranges: [number, number][], isNegated = false): SignSet => ({ isNegated, ranges, inner: [] });
const between = (from: string, to: string): [number, number] => [
  present(from.codePointAt(0), "from.codePointAt(0)"),
  present(to.codePointAt(0), "to.codePointAt(0)"),
];
const DIGITS = [between("0", "9")];
export const WORD_SIGNS: SignSet = set([
  between("0", "9"),
  between("A", "Z"),
  between("_", "_"),
  between("a", "z"),
]);
const SPACES: [number, number][] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: [number, number][] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Throws a PatternError where the text is no pattern, or one that only a searching engine can run. */
export function readPattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_CHARS)
    throw new PatternError(`it is longer than ${MAX_PATTERN_CHARS} characters`, true);
  return new Reader(source).pattern();
}

class Reader {
  private at = 0;
  private depth = 0;
  constructor(private readonly source: string) {}

  pattern(): Pattern {
    const aheads: Ahead[] = [];
    const hats = /^\^?(?=\(\?[=!])/.exec(this.source)?.[0];
    if (hats === "^" && !this.hasTopLevelChoice()) {
      this.at = 1;
      for (let found = this.take(/\(\?[=!]/y); found; found = this.take(/\(\?[=!]/y)) {
        aheads.push({ of: this.group(), isNegated: found.endsWith("!") });
        if (/[*+?{]/.test(this.source[this.at] ?? "")) throw unusual("it repeats a lookahead");
      }
    }
    const rest = this.alternation();
    if (this.at < this.source.length) throw wrong("it has an unmatched closing parenthesis");
    const part: PatternPart =
      aheads.length > 0 ? { kind: "all", parts: [{ kind: "edge", edge: "start" }, rest] } : rest;
    return { part, aheads };
  }

  /** Whether "|" stands outside of all brackets: then a leading "^" holds for the first choice only. */
  private hasTopLevelChoice(): boolean {
    let depth = 0;
    let inClass = false;
    for (let at = 0; at < this.source.length; at++) {
      const sign = this.source[at];
      if (sign === "\\") at++;
      else if (inClass) inClass = sign !== "]";
      else if (sign === "[") inClass = true;
      else if (sign === "(") depth++;
      else if (sign === ")") depth--;
      else if (sign === "|" && depth === 0) return true;
    }
    return false;
  }

  private alternation(): PatternPart {
    const alternatives: PatternPart[][] = [[]];
    while (this.at < this.source.length && this.source[this.at] !== ")") {
      if (this.source[this.at] === "|") {
        this.at++;
        alternatives.push([]);
      } else lastOf(alternatives).push(this.repeated());
    }
    const parts = alternatives.map(
      (way): PatternPart => (way.length === 1 ? must(way, 0) : { kind: "all", parts: way }),
    );
    return parts.length === 1 ? must(parts, 0) : { kind: "any", alternatives: parts };
  }

  /** What stands up to the closing bracket of a group whose opening one was read. */
  private group(): PatternPart {
    if (++this.depth > MAX_GROUPS) throw new PatternError("its groups are nested too deeply", true);
    const inner = this.alternation();
    if (this.source[this.at++] !== ")") throw wrong("a group is not closed");
    this.depth--;
    return inner;
  }

  private repeated(): PatternPart {
    const isGroup = this.source[this.at] === "(";
    const of = this.one();
    const found = this.take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (!found) return of;
    if (of.kind === "edge" && !isGroup) throw wrong("it repeats an anchor");
    const numbers = /^\{(\d+)(,?)(\d*)/.exec(found);
    const least = numbers ? Number(numbers[1]) : found.startsWith("+") ? 1 : 0;
    const most = numbers
      ? numbers[2] === ""
        ? least
        : numbers[3] === ""
          ? Number.POSITIVE_INFINITY
          : Number(numbers[3])
      : found.startsWith("?")
        ? 1
        : Number.POSITIVE_INFINITY;
    if (least > most) throw wrong("the bounds of a repetition are reversed");
    return { kind: "repeat", of, least, most };
  }

  private one(): PatternPart {
    const sign = String.fromCodePoint(
      present(this.source.codePointAt(this.at), "this.source.codePointAt(this.at)"),
    );
    if (/[*+?]/.test(sign) || this.matchesAt(/\{\d+(?:,\d*)?\}/y)) throw wrong("there is nothing to repeat");
    this.at += sign.length;
    switch (sign) {
      case "^":
        return { kind: "edge", edge: "start" };
      case "$":
        return { kind: "edge", edge: "end" };
      case ".":
        return { kind: "one", set: set(LINE_ENDS, true) };
      case "(":
        return this.bracket();
      case "[":
        return { kind: "one", set: this.signClass() };
      case "\\":
        return this.escaped();
      default:
        return { kind: "one", set: only(present(sign.codePointAt(0), "sign.codePointAt(0)")) };
    }
  }

  private bracket(): PatternPart {
    if (this.source[this.at] !== "?") return this.group();
    if (this.take(/\?:/y) || this.take(/\?<[A-Za-z_$][\w$]*>/y)) return this.group();
    if (this.matchesAt(/\?<?[=!]/y)) throw unusual("it has a lookahead or lookbehind");
    if (this.matchesAt(/\?[a-z-]+:/y)) throw unusual("it has inline flags");
    throw wrong("a group starts with ? and an unknown character");
  }

  private escaped(): PatternPart {
    if (this.take(/b/y)) return { kind: "edge", edge: "word" };
    if (this.take(/B/y)) return { kind: "edge", edge: "inside" };
    if (this.matchesAt(/[1-9]|k</y)) throw unusual("it has a backreference");
    const found = this.escape();
    return { kind: "one", set: typeof found === "number" ? only(found) : found };
  }

  /** What stands after a backslash: one code point, or a set of them. */
  private escape(): number | SignSet {
    const letter = this.source[this.at];
    if (letter === undefined) throw wrong("it ends with a backslash");
    this.at++;
    switch (letter) {
      case "d":
      case "D":
        return set(DIGITS, letter === "D");
      case "w":
      case "W":
        return { ...WORD_SIGNS, isNegated: letter === "W" };
      case "s":
      case "S":
        return set(SPACES, letter === "S");
      case "p":
      case "P":
        return this.property(letter === "P");
      case "x":
        return this.hex(/[\dA-Fa-f]{2}/y);
      case "u":
        return this.unicode();
      case "c": {
        const control = this.take(/[A-Za-z]/y);
        if (!control) throw wrong("\\c needs a letter");
        return control.charCodeAt(0) % 32;
      }
      case "0":
        if (this.matchesAt(/\d/y)) throw wrong("it has an octal escape");
        return 0;
    }
    if (CONTROLS[letter] !== undefined) return CONTROLS[letter];
    if (/[A-Za-z0-9]/.test(letter)) throw wrong(`\\${letter} has no meaning in a JSON Schema pattern`);
    const code = present(this.source.codePointAt(this.at - 1), "this.source.codePointAt(this.at - 1)");
    if (code > 0xffff) this.at++;
    return code;
  }

  private hex(what: RegExp): number {
    const found = this.take(what);
    if (!found) throw wrong("hexadecimal digits are missing after \\x or \\u");
    return Number.parseInt(found, 16);
  }

  private unicode(): number {
    const braced = this.take(/\{[\dA-Fa-f]+\}/y);
    if (braced) {
      const code = Number.parseInt(braced.slice(1, -1), 16);
      if (code > LAST) throw wrong("a code point is too large");
      return code;
    }
    const high = this.hex(/[\dA-Fa-f]{4}/y);
    const low = high >= 0xd800 && high < 0xdc00 ? this.take(/\\u[Dd][C-Fc-f][\dA-Fa-f]{2}/y) : null;
    return low ? (high - 0xd800) * 0x400 + (Number.parseInt(low.slice(2), 16) - 0xdc00) + 0x10000 : high;
  }

  private property(isNegated: boolean): SignSet {
    const found = this.take(/\{\w+(?:=\w+)?\}/y);
    if (!found) throw wrong("\\p needs a property name, such as \\p{L}");
    try {
      return { isNegated, ranges: [], inner: [], property: new RegExp(`^\\p${found}$`, "u") };
    } catch {
      throw wrong(`\\p${found} is not a known property`);
    }
  }

  private signClass(): SignSet {
    const found: SignSet = { isNegated: this.take(/\^/y) !== null, ranges: [], inner: [] };
    for (;;) {
      if (this.at >= this.source.length) throw wrong("a character class is not closed");
      if (this.take(/\]/y)) return found;
      const from = this.classSign();
      // A hyphen at either end, or beside a set, is one.
      const isRange = this.matchesAt(/-[^\]]/y);
      if (!isRange || typeof from !== "number") {
        if (typeof from === "number") found.ranges.push([from, from]);
        else found.inner.push(from);
        continue;
      }
      const hyphen = this.at++;
      const to = this.classSign();
      if (typeof to !== "number") {
        found.ranges.push([from, from]);
        this.at = hyphen;
        found.ranges.push([45, 45]);
        this.at++;
        continue;
      }
      if (to < from) throw wrong("a character range is reversed");
      found.ranges.push([from, to]);
    }
  }

  private classSign(): number | SignSet {
    const code = present(this.source.codePointAt(this.at), "this.source.codePointAt(this.at)");
    this.at += code > 0xffff ? 2 : 1;
    if (code !== 92) return code;
    if (this.take(/b/y)) return 8;
    if (this.matchesAt(/[1-9]/y)) throw wrong("it has an octal escape");
    return this.escape();
  }

  private take(what: RegExp): string | null {
    what.lastIndex = this.at;
    const found = what.exec(this.source)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }

  private matchesAt(what: RegExp): boolean {
    what.lastIndex = this.at;
    return what.test(this.source);
  }
}

const only = (code: number): SignSet => set([[code, code]]);
const wrong = (why: string) => new PatternError(why, false);
const unusual = (why: string) => new PatternError(why, true);

/** Whether a code point belongs to a set. */
export function belongs(to: SignSet, code: number): boolean {
  const isIn =
    to.ranges.some(([from, until]) => code >= from && code <= until) ||
    to.inner.some((inner) => belongs(inner, code)) ||
    (to.property?.test(String.fromCodePoint(code)) ?? false);
  return isIn !== to.isNegated;
}

/** How much work it is to tell whether a code point belongs to a set. */
export const weightOf = (of: SignSet): number =>
  1 + of.ranges.length + (of.property ? 8 : 0) + of.inner.reduce((sum, inner) => sum + weightOf(inner), 0);
