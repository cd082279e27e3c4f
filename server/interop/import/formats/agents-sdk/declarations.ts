import type { Work } from "@/server/domain/base/work-budget";
import {
  calledName,
  entryOf,
  given,
  isCallOf,
  jsonOf,
  pathOf,
  positional,
  textOf,
} from "../../code/literals";
import type {
  CallExpr,
  ClassStatement,
  Expr,
  FunctionStatement,
  Param,
  Program,
  Statement,
} from "../../code/program";
import { bodiesOf, itemsOf } from "../../code/walk";
import { answerOf, boundBy, Classes, callWith, superCallIn } from "./classes";
import type { Types } from "./schemas";

const AGENT_CLASSES: ReadonlySet<string> = new Set(["Agent", "SandboxAgent", "RealtimeAgent"]);
const MOST_HOPS = 8;

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
  private readonly values = new Map<string, Expr>();
  private readonly classes = new Classes((name) => this.values.get(name));
  /** What classes have, as `Class.name`, where another has the same name already. */
  private readonly ownAgents = new Map<string, DeclaredAgent>();
  private readonly methods = new Set<Routine>();
  /** Functions whose answer is an agent, and classes that are one, with what makes it. */
  private readonly factories = new Map<string, { call: CallExpr; params: readonly Param[] }>();
  private owner: string | null = null;
  /** What names mean that are imported under another. */
  private readonly imported = new Map<string, string>();

  constructor(
    readonly program: Program,
    readonly work: Work,
  ) {
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
  agentOf(expr: Expr | null | undefined, hops = 0): DeclaredAgent | null {
    if (!expr || hops > MOST_HOPS) return null;
    if (expr.is === "name") {
      const known = this.agents.get(expr.name);
      if (known) return known;
      const value = this.values.get(expr.name);
      return value ? this.agentOf(value, hops + 1) : null;
    }
    if (expr.is === "member") {
      for (const owner of this.classes.ownersOf(expr.of)) {
        const own = this.ownAgents.get(`${owner}.${expr.key}`);
        if (own) return own;
      }
      const part = this.partOf(expr.of, expr.key);
      return part
        ? this.agentOf(part, hops + 1)
        : this.agentOf({ ...expr, is: "name", name: expr.key }, hops + 1);
    }
    if (expr.is === "index") {
      const part = expr.index.is === "number" ? this.partOf(expr.of, expr.index.value) : null;
      return part ? this.agentOf(part, hops + 1) : null;
    }
    return expr.is === "call" ? this.agentOfCall(expr) : null;
  }

  private agentOfCall(expr: CallExpr): DeclaredAgent | null {
    const id = `agent ${expr.from}`;
    const known = [...this.agents.values()].find(
      ({ call }) => call.from === expr.from && call.to === expr.to,
    );
    if (known) return known;
    const made = this.factoryOf(expr);
    if (made && expr.args.length > 0 && made.params.length > 0) {
      const name = calledName(expr) ?? "";
      // It is only the pattern of others.
      if (this.agents.get(name)?.call === made.call) this.agents.delete(name);
      const call = callWith(made.call, boundBy(made.params, expr), this.work);
      return this.put(id, { id, call: { ...call, from: expr.from, to: expr.to }, calls: [call], later: [] });
    }
    const template = made && [...this.agents.values()].find(({ call }) => call === made.call);
    if (template) return template;
    if (made) return this.put(id, { id, call: expr, calls: [expr, made.call], later: [] });
    return this.makesAgent(expr) ? this.put(id, { id, call: expr, calls: [expr], later: [] }) : null;
  }

  private put(id: string, agent: DeclaredAgent): DeclaredAgent {
    this.agents.set(id, agent);
    return agent;
  }

  /** The function or class that gives an agent when it is called. */
  private factoryOf({ callee }: CallExpr) {
    const key = callee.is === "name" ? callee.name : callee.is === "member" ? callee.key : "";
    if (callee.is === "member")
      for (const owner of this.classes.ownersOf(callee.of)) {
        const own = this.factories.get(`${owner}.${key}`);
        if (own) return own;
      }
    return this.factories.get(key) ?? null;
  }

  /** A part of what a name stands for: of a record, of a list. */
  private partOf(of: Expr, key: string | number): Expr | null {
    const whole = this.resolved(of);
    if (whole?.is === "record" && typeof key === "string") return entryOf(whole, key);
    const item = whole?.is === "list" && typeof key === "number" ? whole.items[key] : undefined;
    return item && !("spread" in item) ? item : null;
  }

  /** Whether a call makes an agent: `Agent(...)`, `new Agent(...)`, `Agent.create(...)`. */
  private makesAgent(call: CallExpr): boolean {
    const callee = call.callee.is === "index" ? call.callee.of : call.callee;
    const path = pathOf(callee);
    if (!path) return false;
    const names = path.map((name, at) => (at === 0 ? (this.imported.get(name) ?? name) : name));
    const last = names.at(-1) === "create" ? names.at(-2) : names.at(-1);
    return last !== undefined && (AGENT_CLASSES.has(last) || this.isSubclass(last));
  }

  private isSubclass(name: string): boolean {
    return this.classes.get(name) !== undefined && this.factories.has(name);
  }

  private collect(statements: readonly Statement[]): void {
    for (const statement of statements) {
      switch (statement.is) {
        case "import":
          for (const { key, name } of statement.names) if (key !== name) this.imported.set(name, key);
          break;
        case "class":
          this.collectClass(statement);
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

  private collectClass(statement: ClassStatement): void {
    const outer = this.owner;
    this.classes.add(statement);
    if (statement.bases.some((base) => this.isAgentClass(base))) {
      const made = superCallIn(statement);
      if (made) this.factories.set(statement.name, made);
    }
    this.owner = statement.name;
    this.collect(statement.body);
    this.owner = outer;
  }
  private isAgentClass(base: Expr): boolean {
    const name = pathOf(base.is === "index" ? base.of : base)?.at(-1) ?? "";
    return AGENT_CLASSES.has(this.imported.get(name) ?? name);
  }

  /** Functions in expressions, as `withTrace("name", async () => {...})` has them. */
  private collectIn(expr: Expr): void {
    if (expr.is === "function") this.collect(expr.body);
    else if (expr.is === "call") for (const { value } of expr.args) this.collectIn(value);
    else if (expr.is === "record")
      for (const entry of expr.entries) this.collectPart("spread" in entry ? entry.spread : entry.value);
    else if (expr.is === "list")
      for (const item of expr.items) this.collectPart("spread" in item ? item.spread : item);
  }
  /** An agent that stands in a list or record; those that functions give are met where they are used. */
  private collectPart(value: Expr): void {
    if (value.is === "call" && this.makesAgent(value)) this.agentOfCall(value);
    else this.collectIn(value);
  }

  private addRoutine(statement: FunctionStatement): void {
    this.putRoutine(statement);
    this.collect(statement.body);
    this.addFactory(statement.name, statement);
  }
  /** A function before a method of the same name. */
  private putRoutine(routine: Routine): void {
    const known = this.routines.get(routine.name);
    if (known && !this.methods.has(known)) return;
    if (known && this.owner !== null) return;
    this.routines.set(routine.name, routine);
    if (this.owner !== null) this.methods.add(routine);
  }

  /** A function that gives an agent counts as the agent. */
  private addFactory(name: string, { params, body }: Pick<Routine, "params" | "body">): void {
    const value = answerOf(body);
    if (value?.is !== "call" || !this.makesAgent(value)) return;
    const made = { call: value, params: params.filter((one) => !/^(self|this|cls)$/.test(one.name)) };
    if (!this.factories.has(name)) this.factories.set(name, made);
    if (this.owner !== null) this.factories.set(`${this.owner}.${name}`, made);
    const known = [...this.agents.values()].find(({ call }) => call === value);
    if (!known) this.addAgent(name, value);
  }

  private addValue(name: string, value: Expr): void {
    if (value.is === "function") {
      this.putRoutine({ name, ...value, decorators: [], doc: "", from: value.from, to: value.to });
      this.collect(value.body);
      this.addFactory(name, value);
      return;
    }
    const usual = isCallOf(value, "field", "Field") ? given(value, "default_factory", "default") : null;
    if (usual) {
      this.addValue(name, usual.is === "function" ? (answerOf(usual.body) ?? usual) : usual);
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
    const own = this.owner === null ? null : `${this.owner}.${name}`;
    const id = this.agents.has(name) ? own : name;
    const base = this.factoryOf(call);
    if (id === null || this.agents.has(id)) return;
    const calls = base ? [call, callWith(base.call, boundBy(base.params, call), this.work)] : [call];
    const agent = this.put(id, { id, call, calls, later: [] });
    if (own !== null) this.ownAgents.set(own, agent);
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
