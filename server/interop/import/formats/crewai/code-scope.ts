import type { Work } from "@/server/domain/base/work-budget";
import { calledName, isCallOf, jsonOf, pathOf, textParts } from "../../code/literals";
import type { CallExpr, Expr, FunctionStatement, Program, Statement } from "../../code/program";
import { bodiesOf, expressionsOf, visitParts } from "../../code/walk";

/** An expression with what the parameters around it stand for. */
export interface Bound {
  expr: Expr;
  names: ReadonlyMap<string, Bound>;
}

/** What makes something of CrewAI: the call, with the names under which it is known. */
export interface Made {
  call: CallExpr;
  names: ReadonlyMap<string, Bound>;
  /** The function that gives it, else the variable that holds it. */
  name: string | null;
  /** The same for the same thing, however it is named. */
  id: string;
}

/** What was worked out for an expression, by the names around it; null while it is being worked out. */
type Known<T> = WeakMap<ReadonlyMap<string, Bound>, Map<Expr, T | null>>;

const NOTHING: ReadonlyMap<string, Bound> = new Map();
const MOST_HOPS = 12;
export type Kind = "agent" | "task" | "crew";
export const MAKES: Readonly<Record<Kind, readonly string[]>> = {
  agent: ["Agent"],
  task: ["Task", "ConditionalTask"],
  crew: ["Crew"],
};

/** What the Python of a crew declares: functions, variables and calls, wherever they stand. Nothing of it is run. */
export class CodeScope {
  readonly functions = new Map<string, FunctionStatement>();
  readonly classes: {
    name: string;
    bases: readonly Expr[];
    from: number;
    to: number;
  }[] = [];
  readonly calls: { call: CallExpr; within: FunctionStatement | null }[] = [];
  private readonly values = new Map<string, Expr>();
  private readonly texts: Known<string> = new WeakMap();
  private readonly lists: Known<Bound[]> = new WeakMap();

  constructor(
    readonly program: Program,
    private readonly work: Work,
  ) {
    this.collect(program.body, null);
  }

  private collect(statements: readonly Statement[], within: FunctionStatement | null): void {
    for (const statement of statements) {
      if (statement.is === "function") {
        if (!this.functions.has(statement.name)) this.functions.set(statement.name, statement);
        this.collect(statement.body, statement);
      } else if (statement.is === "class") {
        const { name, bases, from, to } = statement;
        this.classes.push({ name, bases, from, to });
        this.collect(statement.body, null);
      }
      if (statement.is === "assign") {
        const { target, value } = statement;
        const name = target.is === "name" ? target.name : target.is === "member" ? target.key : null;
        if (name !== null && statement.operator === "=" && !this.values.has(name))
          this.values.set(name, value);
      }
      for (const expr of expressionsOf(statement))
        visitParts(expr, (one) => {
          if (one.is === "call") this.calls.push({ call: one, within });
        });
      for (const body of bodiesOf(statement)) this.collect(body, within);
    }
  }

  value(name: string): Expr | undefined {
    return this.values.get(name);
  }
  /** Functions with this decorator, in their order. */
  decorated(...names: string[]): FunctionStatement[] {
    return [...this.functions.values()].filter(({ decorators }) =>
      decorators.some((one) => names.includes(decoratorName(one))),
    );
  }

  /** What a function answers: what stands behind its last `return`. */
  private answerOf({ body }: FunctionStatement): Expr | null {
    const returned = [...returnsIn(body)].at(-1) ?? null;
    if (returned?.is !== "name") return returned;
    // A variable of its own, before one of the same name elsewhere.
    return assignedIn(body, returned.name) ?? returned;
  }

  /** What an agent, task or crew is made by, behind names and functions; null where that cannot be told. */
  made(kind: Kind, { expr, names }: Bound, name: string | null = null, hops = 0): Made | null {
    this.work.spend(1);
    if (hops > MOST_HOPS) return null;
    const on = (next: Bound | undefined, as: string | null) =>
      next ? this.made(kind, next, as, hops + 1) : null;
    if (expr.is === "name") {
      const bound = names.get(expr.name);
      if (bound) return on(bound, name);
      const value = this.values.get(expr.name);
      return value
        ? on({ expr: value, names }, name ?? expr.name)
        : this.byFunction(kind, expr, [], name, names, hops);
    }
    if (expr.is === "member") {
      const value = this.values.get(expr.key);
      return value && value !== expr
        ? on({ expr: value, names: NOTHING }, name ?? expr.key)
        : this.byFunction(kind, expr, [], name, names, hops);
    }
    if (expr.is !== "call") return null;
    if (MAKES[kind].some((one) => one === calledName(expr)))
      return { call: expr, names, name, id: `${expr.from}` };
    return this.byFunction(kind, expr.callee, expr.args, name, names, hops);
  }

  private byFunction(
    kind: Kind,
    callee: Expr,
    args: CallExpr["args"],
    name: string | null,
    names: ReadonlyMap<string, Bound>,
    hops: number,
  ): Made | null {
    const called = callee.is === "name" ? callee.name : callee.is === "member" ? callee.key : "";
    const routine = this.functions.get(called);
    const answer = routine ? this.answerOf(routine) : null;
    if (!routine || !answer || hops > MOST_HOPS) return null;
    const bound = new Map<string, Bound>();
    const params = routine.params.filter((param) => !/^(self|cls)$/.test(param.name));
    for (const [at, param] of params.entries()) {
      const plain = args.filter((one) => one.name === null && !one.isSpread);
      const given = args.find((one) => one.name === param.name)?.value ?? plain[at]?.value ?? param.value;
      if (given) bound.set(param.name, { expr: given, names });
    }
    const made = this.made(kind, { expr: answer, names: bound }, called, hops + 1);
    const told = args.map(({ value }) => `${value.from}`).join(",");
    return made && { ...made, name: made.name ?? name ?? called, id: told ? `${made.id}(${told})` : made.id };
  }

  /** What a name stands for; anything else as it is. */
  resolved({ expr, names }: Bound, hops = 0): Bound {
    if (hops > MOST_HOPS) return { expr, names };
    const bound = expr.is === "name" ? names.get(expr.name) : undefined;
    if (bound) return this.resolved(bound, hops + 1);
    const key = expr.is === "name" ? expr.name : expr.is === "member" ? expr.key : null;
    const value = key === null ? undefined : this.values.get(key);
    return value && value !== expr
      ? this.resolved({ expr: value, names: NOTHING }, hops + 1)
      : { expr, names };
  }

  /** Works something out once for each expression and the names around it. What leads to itself is null. */
  private once<T>(known: Known<T>, { expr, names }: Bound, make: () => T | null): T | null {
    this.work.spend(1);
    const here = known.get(names) ?? new Map<Expr, T | null>();
    known.set(names, here);
    const before = here.get(expr);
    if (before !== undefined) return before;
    here.set(expr, null);
    const made = make();
    here.set(expr, made);
    return made;
  }

  /** A text, with its values as CrewAI's variables; null where it is none. */
  text(bound: Bound): string | null {
    const resolved = this.resolved(bound);
    return this.once(this.texts, resolved, () => this.textIn(resolved));
  }

  private textIn({ expr, names }: Bound): string | null {
    if (isCallOf(expr, "dedent", "cleandoc") && expr.args[0]) {
      const inner = this.text({ expr: expr.args[0].value, names });
      return inner === null ? null : dedented(inner);
    }
    if (expr.is === "call" && expr.callee.is === "member" && /^(format|strip|dedent)$/.test(expr.callee.key))
      return this.text({ expr: expr.callee.of, names });
    const parts = textParts(expr)?.map((part) => {
      if (typeof part === "string") return part;
      const inner = this.text({ expr: part, names });
      if (inner !== null) return inner;
      const value = jsonOf(this.resolved({ expr: part, names }).expr);
      if (typeof value === "number" || typeof value === "boolean") return String(value);
      return `{${variableOf(this.resolved({ expr: part, names }).expr) ?? variableOf(part) ?? "value"}}`;
    });
    if (!parts) return null;
    this.work.makeText(parts.reduce((sum, { length }) => sum + length, 0));
    return parts.join("");
  }

  /** The items of a list, also behind its name; null where it is made by code. What only code can tell is one of them. */
  items(bound: Bound): Bound[] | null {
    const resolved = this.resolved(bound);
    return this.once(this.lists, resolved, () => this.itemsIn(resolved));
  }

  private itemsIn({ expr, names }: Bound): Bound[] | null {
    const parts: Bound[][] = [];
    if (expr.is === "binary" && expr.operator === "+") {
      const [left, right] = [expr.left, expr.right].map((one) => this.items({ expr: one, names }));
      if (!left && !right) return null;
      parts.push(left ?? [{ expr: expr.left, names }], right ?? [{ expr: expr.right, names }]);
    } else if (expr.is === "list")
      for (const item of expr.items) {
        const own = "spread" in item ? item.spread : item;
        parts.push(("spread" in item && this.items({ expr: own, names })) || [{ expr: own, names }]);
      }
    else return null;
    this.work.makeList(parts.reduce((sum, { length }) => sum + length, 0));
    return parts.flat();
  }
}

export const decoratorName = (expr: Expr): string =>
  calledName(expr) ?? (expr.is === "name" ? expr.name : expr.is === "member" ? expr.key : "");

/** The name of what stands in a text: `{self.topic}` is topic. */
function variableOf(expr: Expr): string | null {
  const path = pathOf(expr)?.at(-1);
  return path && /^[A-Za-z_][A-Za-z0-9_]*$/.test(path) ? path : null;
}

function* returnsIn(statements: readonly Statement[]): Generator<Expr> {
  for (const statement of statements) {
    if (statement.is === "return" && statement.value) yield statement.value;
    for (const body of bodiesOf(statement)) yield* returnsIn(body);
  }
}

function assignedIn(statements: readonly Statement[], name: string): Expr | null {
  let found: Expr | null = null;
  for (const statement of statements) {
    if (statement.is === "assign" && statement.target.is === "name" && statement.target.name === name)
      found = statement.value;
    for (const body of bodiesOf(statement)) found = assignedIn(body, name) ?? found;
  }
  return found;
}

function dedented(text: string): string {
  const lines = text.split("\n");
  const depths = lines.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const depth = depths.length > 0 ? Math.min(...depths) : 0;
  return lines.map((line) => line.slice(Math.min(depth, line.length))).join("\n");
}
