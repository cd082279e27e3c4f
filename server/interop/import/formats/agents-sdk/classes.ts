import type { Work } from "@/server/domain/base/work-budget";
import { calledName, isCallOf } from "../../code/literals";
import type { CallExpr, ClassStatement, Expr, Param, Statement } from "../../code/program";

/** Classes of a program: which one stands at a place, and which one a value is made of. */
export class Classes {
  private readonly all = new Map<string, ClassStatement>();

  constructor(private readonly value: (name: string) => Expr | undefined) {}

  add(statement: ClassStatement): void {
    if (!this.all.has(statement.name)) this.all.set(statement.name, statement);
  }
  get(name: string): ClassStatement | undefined {
    return this.all.get(name);
  }

  /** The class that `of` in `of.key` stands for, and those that it is made from; none where it is anything else. */
  ownersOf(of: Expr): string[] {
    const first = this.classOf(of, 0);
    const owners: string[] = [];
    for (let name = first; name !== null && !owners.includes(name); ) {
      owners.push(name);
      const [base] = this.all.get(name)?.bases ?? [];
      name = base?.is === "name" && this.all.has(base.name) ? base.name : null;
    }
    return owners;
  }

  private classOf(of: Expr, hops: number): string | null {
    if (hops > 8) return null;
    if (of.is === "name") {
      if (/^(self|this|cls|super)$/.test(of.name)) return this.around(of.from);
      if (this.all.has(of.name)) return of.name;
    }
    if (of.is === "call") {
      const name = calledName(of);
      return name === "super" ? this.around(of.from) : name !== null && this.all.has(name) ? name : null;
    }
    const key = of.is === "name" ? of.name : of.is === "member" ? of.key : null;
    const value = key === null ? undefined : this.value(key);
    return value && value !== of ? this.classOf(value, hops + 1) : null;
  }

  private around(at: number): string | null {
    let inner: ClassStatement | null = null;
    for (const one of this.all.values())
      if (one.from <= at && at < one.to && (!inner || one.from > inner.from)) inner = one;
    return inner?.name ?? null;
  }
}

/** The call by which a class makes itself one of its base class: `super().__init__(...)`, `super(...)`. */
export function superCallIn({ body }: ClassStatement): { call: CallExpr; params: readonly Param[] } | null {
  for (const statement of body) {
    if (statement.is !== "function" || !/^(__init__|constructor)$/.test(statement.name)) continue;
    for (const one of statement.body) {
      const value = one.is === "do" ? one.value : null;
      if (isCallOf(value, "super", "__init__")) return { call: value, params: statement.params };
    }
  }
  return null;
}

/** What a function gives: what stands behind its last `return`, also by a name of its own. */
export function answerOf(body: readonly Statement[]): Expr | null {
  const returned = body.findLast((one) => one.is === "return");
  const value = returned?.is === "return" ? returned.value : null;
  if (value?.is !== "name") return value;
  const made = body.findLast(
    (one) => one.is === "assign" && one.target.is === "name" && one.target.name === value.name,
  );
  return made?.is === "assign" ? made.value : value;
}

/** What parameters stand for in a call, by their names. */
export function boundBy(params: readonly Param[], call: CallExpr): Map<string, Expr> {
  const plain = call.args.filter(({ name, isSpread }) => name === null && !isSpread);
  const own = params.filter(({ name }) => !/^(self|this|cls)$/.test(name));
  const bound = new Map<string, Expr>();
  for (const [at, { name, takes, value }] of own.entries()) {
    const [first] = [call.args.find((one) => one.name === name)?.value ?? plain[at]?.value ?? value];
    if (first) bound.set(name, first);
    if (first?.is === "record")
      for (const { key, name: taken } of takes)
        for (const entry of first.entries)
          if (!("spread" in entry) && entry.key === key) bound.set(taken, entry.value);
  }
  return bound;
}

const MOST_DEEP = 30;

/** An expression with names replaced by what they stand for. */
export function substituted(expr: Expr, bound: ReadonlyMap<string, Expr>, work: Work, depth = 0): Expr {
  const inner = (one: Expr) => substituted(one, bound, work, depth + 1);
  work.spend(1);
  if (depth > MOST_DEEP) return expr;
  switch (expr.is) {
    case "name":
      return bound.get(expr.name) ?? expr;
    case "text":
      return {
        ...expr,
        parts: expr.parts.flatMap((part) => (typeof part === "string" ? [part] : wordsOf(inner(part)))),
      };
    case "list":
      return {
        ...expr,
        items: expr.items.map((item) => ("spread" in item ? { spread: inner(item.spread) } : inner(item))),
      };
    case "record":
      return {
        ...expr,
        entries: expr.entries.map((entry) =>
          "spread" in entry ? { spread: inner(entry.spread) } : { ...entry, value: inner(entry.value) },
        ),
      };
    case "call":
      return callWith(expr, bound, work, depth);
    case "binary":
      return { ...expr, left: inner(expr.left), right: inner(expr.right) };
    case "member":
      return { ...expr, of: inner(expr.of) };
    default:
      return expr;
  }
}

/** A text that is put into another is part of it. */
const wordsOf = (expr: Expr): readonly (string | Expr)[] => (expr.is === "text" ? expr.parts : [expr]);

export const callWith = (
  call: CallExpr,
  bound: ReadonlyMap<string, Expr>,
  work: Work,
  depth = 0,
): CallExpr => ({
  ...call,
  args: call.args.map((argument) => ({
    ...argument,
    value: substituted(argument.value, bound, work, depth + 1),
  })),
});
