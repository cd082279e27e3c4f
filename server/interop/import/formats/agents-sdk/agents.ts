import { type Bound, type Evaluator, type Made, NO_SCOPE } from "../../code/evaluator";
import { isCallOf, pathOf } from "../../code/literals";
import type { CallExpr, Expr, Place } from "../../code/program";

const AGENT_CLASSES: ReadonlySet<string> = new Set(["Agent", "SandboxAgent", "RealtimeAgent"]);

/** An agent that the code declares. */
export interface DeclaredAgent {
  id: string;
  /** Its variable or function; null if it has none of its own. */
  name: string | null;
  place: Place;
  /** The call that creates it, those of the agent that it clones, and the arguments that its class sets. */
  calls: readonly Bound<CallExpr>[];
  /** Agents that it may hand over to, added after its declaration. */
  later: Bound[];
}

/** The agents of a program, wherever they are declared in it. */
export class DeclaredAgents {
  private readonly byId = new Map<string, DeclaredAgent>();
  private readonly names = new Set<string>();
  private readonly copied = new Set<Expr>();

  constructor(readonly evaluator: Evaluator) {
    const calls = evaluator.calls.map(({ call }) => ({ expr: call, scope: NO_SCOPE }));
    // Calls of functions with arguments make agents of their own; what such a function holds is only their pattern.
    const made = calls.flatMap((call) => evaluator.made(call, (one) => this.makesAgent(one)) ?? []);
    const patterns = new Set(made.flatMap(({ expr, id }) => (id === `${expr.from}` ? [] : [expr])));
    for (const one of made) if (one.id !== `${one.expr.from}` || !patterns.has(one.expr)) this.declare(one);
    for (const { of, key, value } of evaluator.attributes)
      if (key === "handoffs") this.addHandoffs(of, { expr: value, scope: NO_SCOPE });
    for (const call of calls) {
      if (!isCallOf(call.expr, "append", "push", "extend")) continue;
      const list = call.expr.callee.is === "member" ? call.expr.callee.of : null;
      const added = evaluator.positional(call);
      if (list?.is === "member" && list.key === "handoffs" && added) this.addHandoffs(list.of, added);
    }
  }

  all(): DeclaredAgent[] {
    return [...this.byId.values()];
  }

  /** The agent that an expression is: by its name, by what makes it, or written there. */
  agentOf(bound: Bound | null): DeclaredAgent | null {
    const made = bound && this.evaluator.made(bound, (call) => this.makesAgent(call));
    return made ? this.declare(made) : null;
  }

  /** An agent's setting of that name, its own or the one of the agent that it clones. */
  setting({ calls }: DeclaredAgent, ...names: string[]): Bound | null {
    for (const call of calls) {
      const found = this.evaluator.argument(call, ...names);
      if (found) return found;
      const first = names.includes("name") ? this.evaluator.positional(call) : null;
      if (first && this.evaluator.text(first) !== null) return first;
    }
    return null;
  }

  private addHandoffs(of: Expr, added: Bound): void {
    this.agentOf({ expr: of, scope: NO_SCOPE })?.later.push(...(this.evaluator.items(added) ?? [added]));
  }

  private declare(made: Made): DeclaredAgent {
    const known = this.byId.get(made.id);
    if (known) return known;
    const base = this.copyOf(made);
    const inherited = this.evaluator.superCall(made);
    const isOwnName = made.name !== null && made.id === `${made.expr.from}` && !this.names.has(made.name);
    if (made.name !== null) this.names.add(made.name);
    const agent = {
      id: made.id,
      name: isOwnName ? made.name : null,
      place: made.expr,
      calls: [made, ...(inherited ? [inherited] : []), ...(base?.calls ?? [])],
      later: [...(base?.later ?? [])],
    };
    this.byId.set(made.id, agent);
    return agent;
  }

  /** `Agent(...)`, `new Agent(...)`, `Agent.create(...)`, a custom subclass, or `agent.clone(...)`. */
  private makesAgent(call: Bound<CallExpr>): boolean {
    const { callee } = call.expr;
    const path = pathOf(callee.is === "index" ? callee.of : callee);
    const names = path?.map((name, at) => (at === 0 ? this.evaluator.originalName(name) : name)) ?? [];
    const last = names.at(-1) === "create" ? names.at(-2) : names.at(-1);
    const bases = this.evaluator.class(last ?? "")?.bases ?? [];
    return (
      [last, ...bases.map((base) => pathOf(base.is === "index" ? base.of : base)?.at(-1))].some(
        (name) => name !== undefined && AGENT_CLASSES.has(this.evaluator.originalName(name)),
      ) || this.copyOf(call) !== null
    );
  }

  /** The agent that `agent.clone(...)` copies. */
  private copyOf({ expr, scope }: Bound<CallExpr>): DeclaredAgent | null {
    if (!isCallOf(expr, "clone") || expr.callee.is !== "member" || this.copied.has(expr)) return null;
    // A copy of itself is none.
    this.copied.add(expr);
    const base = this.agentOf({ expr: expr.callee.of, scope });
    this.copied.delete(expr);
    return base;
  }
}
