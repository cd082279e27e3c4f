import { must, present } from "@/server/domain/base/must";
import {
  belongs,
  type Edge,
  PatternError,
  type PatternPart,
  readPattern,
  type SignSet,
  WORD_SIGNS,
  weightOf,
} from "./syntax";
import type { Work } from "./work";

export { PatternError } from "./syntax";

/**
 * Regular expressions of strangers: every character of a text is looked at once, for all ways of matching at the same
 * time, so that no pattern takes more than its own size times the length of the text. What cannot be run like this
 * (references back, most look-arounds) is refused when it is read.
 */
export interface Regex {
  /** How many places its automaton has. */
  readonly size: number;
  /** Whether it matches anywhere in the text. Throws WorkError. */
  test(text: string, work: Work): boolean;
}

const MAX_SIZE = 10_000;

/** How many places a pattern's automaton would have. Throws a PatternError, as `compileRegex` does. */
export const regexSize = (source: string): number => sizeOfRead(readPattern(source));

function sizeOfRead({ part, aheads }: ReturnType<typeof readPattern>): number {
  const size = sizeOf(part) + aheads.reduce((sum, { of }) => sum + sizeOf(of), 0);
  if (size > MAX_SIZE) throw new PatternError("its repetitions are too large", true);
  return size;
}

/** Throws a PatternError, whose message tells why the pattern cannot be run. */
export function compileRegex(source: string): Regex {
  const read = readPattern(source);
  const size = sizeOfRead(read);
  const { part, aheads } = read;
  const main = new Automaton(part, false);
  const before = aheads.map(({ of, isNegated }) => ({ automaton: new Automaton(of, true), isNegated }));
  return {
    size,
    test: (text, work) =>
      before.every(({ automaton, isNegated }) => automaton.test(text, work) !== isNegated) &&
      main.test(text, work),
  };
}

function sizeOf(part: PatternPart): number {
  switch (part.kind) {
    case "one":
    case "edge":
      return 1;
    case "all":
      return part.parts.reduce((sum, inner) => sum + sizeOf(inner), 0);
    case "any":
      return part.alternatives.reduce((sum, inner) => sum + sizeOf(inner) + 2, 0);
    case "repeat": {
      // What takes nothing still takes a round of writing.
      const size = Math.max(sizeOf(part.of), 1);
      return part.most === Number.POSITIVE_INFINITY
        ? size * (part.least + 1) + 2
        : size * part.least + (size + 1) * (part.most - part.least);
    }
  }
}

type Step =
  | { kind: "sign"; set: number }
  | { kind: "edge"; edge: Edge }
  /** Goes on at both places; the next one, where only one is given. */
  | { kind: "fork"; to: number[] }
  | { kind: "end" };

/** The places that could be next, and what was just before them. */
interface State {
  places: readonly number[];
  isStart: boolean;
  isAfterWord: boolean;
  /** By kind of character, one behind END_OF_TEXT. */
  next: (State | typeof MATCHED | undefined)[];
}
const MATCHED = Symbol("matched");
const END_OF_TEXT = -1;

/** Characters that every set of a pattern treats alike. */
interface Kind {
  isWord: boolean;
  /** By set. */
  isIn: readonly boolean[];
}

/** So many remembered places are forgotten, and found again where they are needed. */
const MAX_REMEMBERED = 100_000;
const MAX_KINDS = 10_000;
const FIRST_CODES = 256;
const UNKNOWN = -2;

class Automaton {
  private readonly steps: Step[] = [];
  private readonly sets: SignSet[] = [];
  private readonly kindWeight: number;
  /** By check: what was found out for one text of a check holds for the next. */
  private readonly searches = new WeakMap<Work, Search>();

  /** `isAnchored`: it must match from the start of the text on. */
  constructor(
    part: PatternPart,
    private readonly isAnchored: boolean,
  ) {
    this.write(part);
    this.steps.push({ kind: "end" });
    this.isAnchored ||= startsAtStart(part);
    this.kindWeight = this.sets.reduce((sum, set) => sum + weightOf(set), 16);
  }

  private write(part: PatternPart): void {
    const { steps } = this;
    switch (part.kind) {
      case "one":
        this.sets.push(part.set);
        steps.push({ kind: "sign", set: this.sets.length - 1 });
        return;
      case "edge":
        steps.push({ kind: "edge", edge: part.edge });
        return;
      case "all":
        for (const inner of part.parts) this.write(inner);
        return;
      case "any": {
        const fork = this.fork();
        const ends: number[][] = [];
        for (const way of part.alternatives) {
          fork.push(steps.length);
          this.write(way);
          ends.push(this.fork());
        }
        for (const end of ends) end.push(steps.length);
        return;
      }
      case "repeat": {
        const { of, least, most } = part;
        for (let n = 0; n < least; n++) this.write(of);
        if (most === Number.POSITIVE_INFINITY) {
          const start = steps.length;
          const fork = this.fork();
          fork.push(steps.length);
          this.write(of);
          this.fork().push(start);
          fork.push(steps.length);
          return;
        }
        const exits: number[][] = [];
        for (let n = least; n < most; n++) {
          const fork = this.fork();
          fork.push(steps.length);
          exits.push(fork);
          this.write(of);
        }
        for (const exit of exits) exit.push(steps.length);
      }
    }
  }

  private fork(): number[] {
    const to: number[] = [];
    this.steps.push({ kind: "fork", to });
    return to;
  }

  test(text: string, work: Work): boolean {
    let search = this.searches.get(work);
    if (!search) {
      search = new Search(this.steps, this.sets, this.kindWeight, this.isAnchored, work);
      this.searches.set(work, search);
    }
    return search.run(text);
  }
}

/** Whether every way through begins with "^". */
function startsAtStart(part: PatternPart): boolean {
  if (part.kind === "edge") return part.edge === "start";
  if (part.kind === "any") return part.alternatives.every(startsAtStart);
  if (part.kind === "all") return part.parts.length > 0 && startsAtStart(must(part.parts, 0));
  return part.kind === "repeat" && part.least > 0 && startsAtStart(part.of);
}

/** Texts of one check, searched by one automaton. States are made as they are met, and met again without work. */
class Search {
  private states = new Map<string, State>();
  private remembered = 0;
  private kinds: Kind[] = [];
  private kindsByName = new Map<string, number>();
  private kindsByCode = new Map<number, number>();
  /** The same for the first characters, which most texts are made of. */
  private readonly firstKinds = new Int32Array(FIRST_CODES).fill(UNKNOWN);
  private readonly seen: Uint32Array;
  private round = 0;
  private readonly first: State;

  constructor(
    private readonly steps: readonly Step[],
    private readonly sets: readonly SignSet[],
    private readonly kindWeight: number,
    private readonly isAnchored: boolean,
    private readonly work: Work,
  ) {
    work.spend(steps.length / 4 + 100);
    this.seen = new Uint32Array(steps.length);
    this.first = this.state([0], true, false);
  }

  run(text: string): boolean {
    this.work.spend(25);
    let state = this.first;
    let counted = 0;
    let at = 0;
    const count = () => {
      this.work.spend((at - counted) / 2 + 1);
      counted = at;
    };
    while (at < text.length) {
      const code = present(text.codePointAt(at), "text.codePointAt(at)");
      at += code > 0xffff ? 2 : 1;
      if (at - counted >= 256) count();
      let kind =
        code < FIRST_CODES
          ? present(this.firstKinds[code], "this.firstKinds[code]")
          : (this.kindsByCode.get(code) ?? UNKNOWN);
      if (kind === UNKNOWN) kind = this.kindOf(code);
      const next = state.next[kind + 1] ?? this.follow(state, kind);
      if (next === MATCHED || next.places.length === 0) {
        count();
        return next === MATCHED;
      }
      state = next;
    }
    count();
    return (state.next[END_OF_TEXT + 1] ?? this.follow(state, END_OF_TEXT)) === MATCHED;
  }

  private state(places: number[], isStart: boolean, isAfterWord: boolean): State {
    places.sort((a, b) => a - b);
    const name = `${isStart ? "^" : ""}${isAfterWord ? "w" : ""}${places.join()}`;
    const known = this.states.get(name);
    if (known) return known;
    this.remembered += places.length + 1;
    if (this.remembered > MAX_REMEMBERED) {
      this.states = new Map();
      this.remembered = places.length + 1;
    }
    const state: State = { places, isStart, isAfterWord, next: [] };
    this.states.set(name, state);
    return state;
  }

  private follow(from: State, kind: number): State | typeof MATCHED {
    const next = this.stepped(
      from,
      kind === END_OF_TEXT ? null : present(this.kinds[kind], "this.kinds[kind]"),
    );
    from.next[kind + 1] = next;
    this.remembered++;
    return next;
  }

  private stepped(from: State, kind: Kind | null): State | typeof MATCHED {
    const { steps, seen } = this;
    const round = ++this.round;
    const open = [...from.places];
    const places: number[] = [];
    let looked = 0;
    while (open.length > 0) {
      const place = present(open.pop(), "open.pop()");
      if (seen[place] === round) continue;
      seen[place] = round;
      looked++;
      const step = present(steps[place], "steps[place]");
      if (step.kind === "end") return MATCHED;
      if (step.kind === "fork") {
        looked += step.to.length;
        for (const to of step.to) open.push(to);
      } else if (step.kind === "edge") {
        if (holds(step.edge, from, kind)) open.push(place + 1);
      } else if (kind?.isIn[step.set]) places.push(place + 1);
    }
    this.work.spend(looked * 10 + places.length * 80 + 150);
    if (!this.isAnchored) places.push(0);
    return this.state(places, false, kind?.isWord ?? false);
  }

  private kindOf(code: number): number {
    this.work.spend(this.kindWeight * 4 + 200);
    const isIn = this.sets.map((set) => belongs(set, code));
    const isWord = belongs(WORD_SIGNS, code);
    const name = `${isWord ? "w" : "-"}${isIn.map(Number).join("")}`;
    let kind = this.kindsByName.get(name);
    if (kind === undefined) {
      kind = this.kinds.push({ isWord, isIn }) - 1;
      this.kindsByName.set(name, kind);
    }
    if (code < FIRST_CODES) this.firstKinds[code] = kind;
    else if (this.kindsByCode.size < MAX_KINDS) this.kindsByCode.set(code, kind);
    return kind;
  }
}

function holds(edge: Edge, before: State, after: Kind | null): boolean {
  if (edge === "start") return before.isStart;
  if (edge === "end") return after === null;
  return (before.isAfterWord !== (after?.isWord ?? false)) === (edge === "word");
}
