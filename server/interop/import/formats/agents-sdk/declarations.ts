import { entryOf, given, isCallOf, jsonOf, pathOf, positional, textOf } from "../../code/literals";
import type {
  CallExpr,
  ClassStatement,
  Expr,
  FunctionStatement,
  Param,
  Program,
  Statement,
} from "../../code/program";
import type { Types } from "./schemas";

/** A function, whichever way it is written. */
export interface Routine {
  name: string;
  params: readonly Param[];
  body: readonly Statement[];
  decorators: readonly Expr[];
  doc: string;
  from: number;
  to: number;
}

/** An agent that the code declares. */
export interface DeclaredAgent {
  /** The name of its variable; of one without a variable its place. */
  id: string;
  call: CallExpr;
  /** What `clone` changed, before what it was copied from. */
  calls: readonly CallExpr[];
  /** Agents that it may hand over to, added after its declaration. */
  later: Expr[];
}

/** What a program declares: agents, types, functions and values, wherever they stand in it. */
export class Declarations implements Types {
  readonly agents = new Map<string, DeclaredAgent>();
  readonly routines = new Map<string, Routine>();
  private readonly classes = new Map<string, ClassStatement>();
  private readonly values = new Map<string, Expr>();
  /** What names mean that are imported under another. */
  private readonly imported = new Map<string, string>();

  constructor(readonly program: Program) {
    this.collect(program.body);
    this.collectLater(program.body);
  }

  value(name: string): Expr | undefined {
    return this.values.get(name);
  }
  class(name: string): ClassStatement | undefined {
    return this.classes.get(name);
  }

  /** The agent that an expression is: by its name, by what makes it, or written there. */
  agentOf(expr: Expr | null | undefined): DeclaredAgent | null {
    if (!expr) return null;
    if (expr.is === "name") {
      const known = this.agents.get(expr.name);
      if (known) return known;
      const value = this.values.get(expr.name);
      return value && value.is !== "name" ? this.agentOf(value) : null;
    }
    if (expr.is === "member") return this.agents.get(expr.key) ?? null;
    if (expr.is !== "call") return null;
    if (this.makesAgent(expr)) {
      const id = `agent ${expr.from}`;
      const known = [...this.agents.values()].find(({ call }) => call.from === expr.from);
      if (known) return known;
      const agent = { id, call: expr, calls: [expr], later: [] };
      this.agents.set(id, agent);
      return agent;
    }
    const path = pathOf(expr.callee);
    return (path?.length === 1 && path[0] !== undefined ? this.agents.get(path[0]) : null) ?? null;
  }

  /** Whether a call makes an agent: `Agent(...)`, `new Agent(...)`, `Agent.create(...)`. */
  private makesAgent(call: CallExpr): boolean {
    const callee = call.callee.is === "index" ? call.callee.of : call.callee;
    const path = pathOf(callee);
    if (!path) return false;
    const names = path.map((name, at) => (at === 0 ? (this.imported.get(name) ?? name) : name));
    const last = names.at(-1) === "create" ? names.at(-2) : names.at(-1);
    return last === "Agent" || last === "SandboxAgent" || last === "RealtimeAgent";
  }

  private collect(statements: readonly Statement[]): void {
    for (const statement of statements) {
      switch (statement.is) {
        case "import":
          for (const { key, name } of statement.names) if (key !== name) this.imported.set(name, key);
          break;
        case "class":
          if (!this.classes.has(statement.name)) this.classes.set(statement.name, statement);
          this.collect(statement.body);
          break;
        case "function":
          this.addRoutine(statement);
          break;
        case "assign":
          if (statement.target.is === "name") this.addValue(statement.target.name, statement.value);
          else if (statement.target.is === "member") this.addValue(statement.target.key, statement.value);
          this.collectIn(statement.value);
          break;
        case "do":
          this.collectIn(statement.value);
          break;
        case "return":
          if (statement.value) this.collectIn(statement.value);
          break;
        default:
          for (const body of bodiesOf(statement)) this.collect(body);
      }
    }
  }

  /** Functions in expressions, as `withTrace("name", async () => {...})` has them. */
  private collectIn(expr: Expr): void {
    if (expr.is === "function") this.collect(expr.body);
    else if (expr.is === "call") for (const { value } of expr.args) this.collectIn(value);
  }

  private addRoutine(statement: FunctionStatement): void {
    if (!this.routines.has(statement.name)) this.routines.set(statement.name, statement);
    this.collect(statement.body);
    this.addFactory(statement.name, statement.body);
  }

  /** A function that gives an agent counts as the agent. */
  private addFactory(name: string, body: readonly Statement[]): void {
    const returned = body.findLast((one) => one.is === "return");
    const value = returned?.is === "return" ? returned.value : null;
    if (value?.is === "call" && this.makesAgent(value)) this.addAgent(name, value);
  }

  private addValue(name: string, value: Expr): void {
    if (value.is === "function") {
      if (!this.routines.has(name))
        this.routines.set(name, { name, ...value, decorators: [], doc: "", from: value.from, to: value.to });
      this.collect(value.body);
      this.addFactory(name, value.body);
      return;
    }
    if (value.is === "call" && this.makesAgent(value)) {
      this.addAgent(name, value);
      return;
    }
    if (isCallOf(value, "clone") && value.callee.is === "member") {
      const base = this.agentOf(value.callee.of);
      if (base && !this.agents.has(name))
        this.agents.set(name, {
          id: name,
          call: value,
          calls: [value, ...base.calls],
          later: [...base.later],
        });
      if (base) return;
    }
    if (!this.values.has(name)) this.values.set(name, value);
  }

  private addAgent(name: string, call: CallExpr): void {
    if (!this.agents.has(name)) this.agents.set(name, { id: name, call, calls: [call], later: [] });
  }

  /** `a.handoffs = [b]`, `a.handoffs.append(b)`, `a.handoffs.push(b)`. */
  private collectLater(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (
        statement.is === "assign" &&
        statement.target.is === "member" &&
        statement.target.key === "handoffs"
      )
        this.agentOf(statement.target.of)?.later.push(...itemsOf(statement.value));
      if (statement.is === "do" && isCallOf(statement.value, "append", "push", "extend")) {
        const { callee, args } = statement.value;
        const list = callee.is === "member" ? callee.of : null;
        if (list?.is === "member" && list.key === "handoffs")
          this.agentOf(list.of)?.later.push(...args.flatMap(({ value }) => itemsOf(value)));
      }
      if (statement.is === "function") this.collectLater(statement.body);
      for (const body of bodiesOf(statement)) this.collectLater(body);
    }
  }

  /** What an agent is given under a name, by itself or by the one that it is a copy of. */
  settingOf(agent: DeclaredAgent, ...names: string[]): Expr | null {
    for (const call of agent.calls) {
      const found = given(call, ...names);
      if (found) return found;
      if (names.includes("name") && call === agent.call) {
        const first = positional(call, 0);
        if (first?.is === "text") return first;
      }
    }
    return null;
  }

  /** The text of an expression, also behind the name of a value. */
  textOf(expr: Expr | null): string | null {
    return textOf(this.resolved(expr));
  }
  jsonOf(expr: Expr | null) {
    return jsonOf(this.resolved(expr));
  }
  /** What a name stands for, where it is declared; anything else as it is. */
  resolved(expr: Expr | null): Expr | null {
    let current = expr;
    for (let hops = 0; hops < 5; hops++) {
      const next: Expr | undefined =
        current?.is === "name"
          ? this.values.get(current.name)
          : current?.is === "member" && current.of.is === "name"
            ? this.memberOf(current.of.name, current.key)
            : current?.is === "binary" && current.operator === "??"
              ? current.right
              : undefined;
      if (!next) return current;
      current = next;
    }
    return current;
  }
  private memberOf(name: string, key: string): Expr | undefined {
    const value = this.values.get(name);
    return value?.is === "record" ? (entryOf(value, key) ?? undefined) : undefined;
  }
}

/** The items of a list, or the one that stands in its place. */
export function itemsOf(expr: Expr): Expr[] {
  if (expr.is !== "list") return [expr];
  return expr.items.map((item) => ("spread" in item ? item.spread : item));
}

/** The blocks within a statement, without those of functions. */
export function bodiesOf(statement: Statement): (readonly Statement[])[] {
  switch (statement.is) {
    case "if":
      return [...statement.branches.map(({ body }) => body), statement.otherwise];
    case "while":
    case "for":
    case "block":
      return [statement.body];
    default:
      return [];
  }
}

/** Whether an expression, or a function in it, holds one that is looked for. */
export function holds(expr: Expr, isIt: (expr: Expr) => boolean): boolean {
  if (isIt(expr)) return true;
  switch (expr.is) {
    case "call":
      return holds(expr.callee, isIt) || expr.args.some(({ value }) => holds(value, isIt));
    case "member":
    case "not":
    case "negative":
      return holds(expr.of, isIt);
    case "index":
      return holds(expr.of, isIt) || holds(expr.index, isIt);
    case "binary":
      return holds(expr.left, isIt) || holds(expr.right, isIt);
    case "choice":
      return holds(expr.test, isIt) || holds(expr.then, isIt) || holds(expr.otherwise, isIt);
    case "list":
      return expr.items.some((item) => holds("spread" in item ? item.spread : item, isIt));
    case "record":
      return expr.entries.some((entry) => holds("spread" in entry ? entry.spread : entry.value, isIt));
    case "text":
      return expr.parts.some((part) => typeof part !== "string" && holds(part, isIt));
    case "function":
      return holdsIn(expr.body, isIt);
    default:
      return false;
  }
}

/** Whether statements hold an expression that is looked for; functions declared among them are left out. */
export function holdsIn(statements: readonly Statement[], isIt: (expr: Expr) => boolean): boolean {
  return statements.some((statement) => {
    if (expressionsOf(statement).some((expr) => holds(expr, isIt))) return true;
    return bodiesOf(statement).some((body) => holdsIn(body, isIt));
  });
}

export function expressionsOf(statement: Statement): Expr[] {
  switch (statement.is) {
    case "assign":
      return [statement.target, statement.value];
    case "take":
    case "do":
      return [statement.value];
    case "if":
      return statement.branches.map(({ test }) => test);
    case "while":
      return [statement.test];
    case "for":
      return statement.of ? [statement.of] : [];
    case "return":
      return statement.value ? [statement.value] : [];
    case "block":
      return [...statement.head];
    default:
      return [];
  }
}
