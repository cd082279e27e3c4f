import { compileRegex } from "@/server/domain/regex/regex";
import { Work } from "@/server/domain/regex/work";

/** Steps that one sample may take. */
const MAX_WORK = 200_000;
const MAX_CHARS = 10_000;

/**
 * A text that matches a regular expression: the wish if it does, else a sample built from the usual parts
 * (literals, classes, groups, alternatives, repetitions). Unusual expressions give the wish back.
 */
export function sampleOf(pattern: string, wish: string, least = 0, most = Number.POSITIVE_INFINITY): string {
  const fits = (text: string) => text.length >= least && text.length <= most && matches(pattern, text);
  if (fits(wish)) return wish;
  const slug = wish
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  if (fits(slug)) return slug;
  for (const extra of [0, 1, 2, 4, 8, 16]) {
    const sample = new Sampler(pattern, extra).sample();
    if (sample !== null && fits(sample)) return sample;
    if (sample !== null && sample.length < least && fits(sample.padEnd(least, sample.at(-1) ?? "a")))
      return sample.padEnd(least, sample.at(-1) ?? "a");
  }
  return wish;
}

function matches(pattern: string, text: string): boolean {
  try {
    return compileRegex(pattern).test(text, new Work(MAX_WORK));
  } catch {
    return true; // Nobody here can tell.
  }
}

const CLASSES: Record<string, string> = { d: "4", w: "a", s: " ", D: "x", W: "-", S: "a", n: "\n", t: "\t" };

/** Reads an expression once, from left to right, writing the first thing that each part allows. */
class Sampler {
  private at = 0;
  /** `extra`: repetitions beyond the least, where the expression allows them. */
  constructor(
    private readonly source: string,
    private readonly extra: number,
  ) {}

  sample(): string | null {
    try {
      const text = this.alternatives();
      return this.at === this.source.length ? text : null;
    } catch {
      return null;
    }
  }

  private alternatives(): string {
    const first = this.sequence();
    while (this.source[this.at] === "|") {
      this.at++;
      this.sequence();
    }
    return first;
  }

  private sequence(): string {
    let text = "";
    while (this.at < this.source.length && !"|)".includes(this.source.charAt(this.at)))
      text += this.repeated();
    return text;
  }

  private repeated(): string {
    const atom = this.atom();
    const [least, most] = this.quantifier();
    const times = Math.min(least + this.extra, most);
    if (atom.length * times > MAX_CHARS) throw new Error("too long");
    return atom.repeat(times);
  }

  private quantifier(): [number, number] {
    const rest = this.source.slice(this.at);
    const found = /^(?:[*+?]|\{(\d{1,9})(?:(,)(\d{0,9}))?\})\??/.exec(rest);
    if (!found) return [1, 1];
    this.at += found[0].length;
    if (found[0].startsWith("*")) return [0, 64];
    if (found[0].startsWith("+")) return [1, 64];
    if (found[0].startsWith("?")) return [0, 1];
    const least = Number(found[1]);
    if (least > 1000) throw new Error("too long");
    return [least, found[2] ? (found[3] ? Number(found[3]) : least + 64) : least];
  }

  private atom(): string {
    const sign = this.source.charAt(this.at++);
    if (sign === "^" || sign === "$") return "";
    if (sign === ".") return "a";
    if (sign === "[") return this.charClass();
    if (sign === "\\") return this.escaped();
    if (sign !== "(") return sign;
    if (this.source.startsWith("?:", this.at)) this.at += 2;
    else if (this.source[this.at] === "?") throw new Error("unusual group");
    const inner = this.alternatives();
    if (this.source[this.at++] !== ")") throw new Error("open group");
    return inner;
  }

  private escaped(): string {
    const sign = this.source.charAt(this.at++);
    if (sign === "b") return "";
    return CLASSES[sign] ?? sign;
  }

  private charClass(): string {
    const end = this.source.indexOf("]", this.source[this.at] === "]" ? this.at + 1 : this.at);
    if (end < 0) throw new Error("open class");
    const body = this.source.slice(this.at, end);
    this.at = end + 1;
    if (!body.startsWith("^"))
      return body.startsWith("\\") ? (CLASSES[body.charAt(1)] ?? body.charAt(1)) : body.charAt(0);
    const inside = compileRegex(`[${body}]`);
    const free = [..."a0A_- .x"].find((sign) => inside.test(sign, new Work(MAX_WORK)));
    if (free === undefined) throw new Error("empty class");
    return free;
  }
}
