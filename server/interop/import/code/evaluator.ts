import type { Work } from "@/server/domain/base/work-budget";
import { calledName, entryOf, isCallOf, jsonOf, pathOf, positional } from "./literals";
import type { BlockKind, CallExpr, ClassStatement, Expr, Param, Place, Program, Statement } from "./program";
import { expressionsOf, visitParts } from "./walk";

/** What the parameters of a called function stand for. */
export type Scope = ReadonlyMap<string, Bound>;
/** An expression with the scope in which it stands. */
export interface Bound<E extends Expr = Expr> {
  expr: E;
  scope: Scope;
}
export const NO_SCOPE: Scope = new Map();

/** A call that makes an object, found behind names, members and functions. */
export interface Made extends Bound<CallExpr> {
  /** The function that returns it, else the variable that holds it. */
  name: string | null;
  /** The same for the same object, whatever led to it. */
  id: string;
}

/** A function, however it is written. */
export interface Routine extends Place {
  name: string;
  params: readonly Param[];
  body: readonly Statement[];
  decorators: readonly Expr[];
}

/** A call, with the function and the control structures around it. */
export interface CallSite {
  call: CallExpr;
  within: Routine | null;
  control: readonly BlockKind[];
}

/** Results by scope and expression; null for what has none, and while it is worked out. */
type Memo<T> = WeakMap<Scope, Map<Expr, T | null>>;

const MOST_HOPS = 12;
const MOST_DEEP = 100;

/**
 * What the expressions of a program stand for, in Python and TypeScript, without running it: values behind names,
 * attributes and parameters, texts in pieces, lists with what is spread into them. Each is worked out once and counted
 * against the budget of the import; what depends on anything but written values stays an expression.
 */
export class Evaluator {
  readonly functions = new Map<string, Routine>();
  readonly classes = new Map<string, ClassStatement>();
  readonly calls: CallSite[] = [];
  /** Assignments to attributes: `a.b = value`. */
  readonly attributes: { of: Expr; key: string; value: Expr }[] = [];
  /** Values by name, those of classes also as `Class.name`; the first assignment counts. */
  readonly values = new Map<string, Expr>();
  private readonly namesOf = new Map<Expr, string>();
  private readonly imports = new Map<string, string>();
  /** The classes in which `self`, `this` and `super` stand. */
  private readonly owners = new Map<Expr, string>();
  private readonly answers = new Map<Routine, Expr | null>();
  private readonly resolutions: Memo<Bound> = new WeakMap();
  private readonly textPieces: Memo<(string | Bound)[]> = new WeakMap();
  private readonly lists: Memo<Bound[]> = new WeakMap();
  private depth = 0;

  constructor(
    readonly program: Program,
    readonly work: Work,
  ) {
    this.collect(program.body, { within: null, owner: null, control: [] });
  }

  private collect(
    statements: readonly Statement[],
    around: { within: Routine | null; owner: string | null; control: readonly BlockKind[] },
  ): void {
    for (const statement of statements) {
      const { owner } = around;
      if (statement.is === "import") {
        for (const { key, name } of statement.names) this.imports.set(name, key);
      } else if (statement.is === "function") {
        this.addFunction(statement, owner);
        this.collect(statement.body, { ...around, within: statement });
      } else if (statement.is === "class") {
        if (!this.classes.has(statement.name)) this.classes.set(statement.name, statement);
        this.collect(statement.body, { within: null, owner: statement.name, control: [] });
      }
      const routine = statement.is === "assign" ? this.assign(statement, owner) : null;
      for (const expr of expressionsOf(statement))
        visitParts(expr, (one) => {
          if (owner !== null && isSelf(one)) this.owners.set(one, owner);
          if (one.is === "call") this.calls.push({ call: one, ...around });
          if (one.is !== "function") return true;
          this.collect(one.body, { ...around, within: routine?.body === one.body ? routine : around.within });
          return false;
        });
      if (statement.is !== "block") continue;
      const { kind, body } = statement;
      const isControl = kind !== "other" && !(kind === "if" && isMainGuard(statement.head));
      this.collect(body, { ...around, control: isControl ? [...around.control, kind] : around.control });
    }
  }

  /** @returns the function, where one is assigned. */
  private assign(statement: Extract<Statement, { is: "assign" }>, owner: string | null): Routine | null {
    const { target } = statement;
    const name = target.is === "name" ? target.name : target.is === "member" ? target.key : null;
    if (name === null) return null;
    if (target.is === "member") this.attributes.push({ of: target.of, key: name, value: statement.value });
    const value = defaultOf(statement.value);
    if (value.is === "function") {
      const routine = { ...value, name, decorators: [], from: statement.from, to: statement.to };
      this.addFunction(routine, owner);
      return routine;
    }
    for (const key of owner === null ? [name] : [name, `${owner}.${name}`])
      if (!this.values.has(key)) this.values.set(key, value);
    if (!this.namesOf.has(value)) this.namesOf.set(value, name);
    return null;
  }

  private addFunction(routine: Routine, owner: string | null): void {
    for (const key of owner === null ? [routine.name] : [routine.name, `${owner}.${routine.name}`])
      if (!this.functions.has(key)) this.functions.set(key, routine);
  }

  value(name: string): Expr | undefined {
    return this.values.get(name);
  }
  class(name: string): ClassStatement | undefined {
    return this.classes.get(name);
  }
  /** The name of something in the module that it is imported from. */
  originalName(name: string): string {
    return this.imports.get(name) ?? name;
  }

  /** Resolves names, attributes, entries and items to their values; anything else stays as it is. */
  resolve(bound: Bound): Bound {
    let current = bound;
    for (let hops = 0; hops < MOST_HOPS; hops++) {
      const { expr, scope } = current;
      const next: Bound | null =
        expr.is === "name"
          ? (scope.get(expr.name) ?? unbound(this.values.get(expr.name)))
          : expr.is === "member" || expr.is === "index"
            ? this.once(this.resolutions, current, () => this.partOf(current))
            : expr.is === "binary" && expr.operator === "??"
              ? { expr: expr.right, scope }
              : null;
      if (!next || next.expr === expr) return current;
      current = next;
    }
    return current;
  }

  /** `of.key` or `of[0]`: an attribute of its class, an entry or an item, else the value of that name. */
  private partOf({ expr, scope }: Bound): Bound | null {
    if (expr.is !== "member" && expr.is !== "index") return null;
    // A state's defaults aren't its values.
    if (pathOf(expr.of)?.join(".") === "self.state") return null;
    const of = this.resolve({ expr: expr.of, scope });
    if (expr.is === "index")
      return expr.index.is === "number" ? (this.items(of)?.[expr.index.value] ?? null) : null;
    for (const owner of this.classesOf(of.expr)) {
      const own = this.values.get(`${owner}.${expr.key}`);
      if (own) return unbound(own);
    }
    if (of.expr.is === "record") return this.entry(of, expr.key);
    return of.expr.is === "name" || of.expr.is === "member" ? unbound(this.values.get(expr.key)) : null;
  }

  /** The class of an object that was resolved, and its base classes; none where it is anything else. */
  private classesOf(of: Expr): string[] {
    const first = this.owners.get(of) ?? (of.is === "name" ? of.name : calledName(of));
    const found: string[] = [];
    for (let name = first; name !== null && this.classes.has(name) && !found.includes(name); ) {
      found.push(name);
      const [base] = this.classes.get(name)?.bases ?? [];
      name = base?.is === "name" ? base.name : null;
    }
    return found;
  }

  /** The function that is called, or given by its name: also a method. */
  functionOf({ expr, scope }: Bound): Routine | null {
    if (expr.is === "name") return this.functions.get(expr.name) ?? null;
    if (expr.is !== "member") return null;
    for (const owner of this.classesOf(this.resolve({ expr: expr.of, scope }).expr)) {
      const own = this.functions.get(`${owner}.${expr.key}`);
      if (own) return own;
    }
    return this.functions.get(expr.key) ?? null;
  }

  /** The call that makes an object, behind names and functions; null where code decides it. */
  made(
    bound: Bound,
    makes: (call: Bound<CallExpr>) => boolean,
    name: string | null = null,
    hops = 0,
  ): Made | null {
    this.work.spend(1);
    if (hops > MOST_HOPS) return null;
    const { expr, scope } = this.resolve(bound);
    if (expr.is === "call" && makes({ expr, scope }))
      return { expr, scope, name: name ?? this.namesOf.get(expr) ?? null, id: `${expr.from}` };
    const callee = expr.is === "call" ? expr.callee : expr;
    const routine = this.functionOf({ expr: callee, scope });
    const answer = routine && this.answerOf(routine);
    if (!answer) return null;
    const args = expr.is === "call" ? expr.args : [];
    const inner = expr.is === "call" ? bind(routine.params, { expr, scope }) : NO_SCOPE;
    const made = this.made({ expr: answer, scope: inner }, makes, routine.name, hops + 1);
    const given = args.map(({ value }) => value.from).join();
    return made && given ? { ...made, id: `${made.id}(${given})` } : made;
  }

  /** What a function finally returns, also through a local variable. */
  private answerOf(routine: Routine): Expr | null {
    const known = this.answers.get(routine);
    if (known !== undefined) return known;
    const returned = returnsIn(routine.body).at(-1) ?? null;
    const answer = returned?.is === "name" ? (assignedIn(routine.body, returned.name) ?? returned) : returned;
    this.answers.set(routine, answer);
    return answer;
  }

  /** The call by which a class makes itself one of its base class: `super().__init__(...)`, `super(...)`. */
  superCall(call: Bound<CallExpr>): Bound<CallExpr> | null {
    for (const statement of this.classes.get(calledName(call.expr) ?? "")?.body ?? []) {
      if (statement.is !== "function" || !/^(__init__|constructor)$/.test(statement.name)) continue;
      for (const one of statement.body) {
        const value = one.is === "do" ? one.value : null;
        if (isCallOf(value, "super", "__init__")) return { expr: value, scope: bind(statement.params, call) };
      }
    }
    return null;
  }

  /** Works something out once for each expression and scope. What leads to itself, or too deep, is null. */
  private once<T>(memo: Memo<T>, { expr, scope }: Bound, make: () => T | null): T | null {
    this.work.spend(1);
    const known = memo.get(scope) ?? new Map<Expr, T | null>();
    memo.set(scope, known);
    const before = known.get(expr);
    if (before !== undefined) return before;
    if (this.depth > MOST_DEEP) return null;
    known.set(expr, null);
    this.depth++;
    const made = make();
    this.depth--;
    known.set(expr, made);
    return made;
  }

  /** The text that something always is; null where it depends on anything. */
  text(bound: Bound): string | null {
    const pieces = this.pieces(bound);
    if (!pieces || pieces.length > 1) return null;
    const [only = ""] = pieces;
    return typeof only === "string" ? only : null;
  }

  /** A text as its written pieces and the values between them; null where it is none. */
  pieces(bound: Bound): (string | Bound)[] | null {
    const value = this.resolve(bound);
    return this.once(this.textPieces, value, () => {
      const parts = this.partsOfText(value);
      return parts && this.joined(parts);
    });
  }

  private partsOfText({ expr, scope }: Bound): (string | Bound)[] | null {
    const inner = (one: Expr) => this.pieces({ expr: one, scope });
    if (expr.is === "text")
      return expr.parts.flatMap((part) =>
        typeof part === "string" ? [part] : (inner(part) ?? [this.numberIn({ expr: part, scope })]),
      );
    if (expr.is === "binary" && expr.operator === "+") {
      const [left, right] = [inner(expr.left), inner(expr.right)];
      // A number plus a value isn't text; with text on either side it is.
      if (!left && !right) return null;
      return [...(left ?? [{ expr: expr.left, scope }]), ...(right ?? [{ expr: expr.right, scope }])];
    }
    if (expr.is !== "call") return null;
    const [first] = expr.args;
    if (isCallOf(expr, "dedent", "cleandoc") && first) return dedented(inner(first.value));
    if (expr.callee.is !== "member") return null;
    const { of, key } = expr.callee;
    if (key === "join") return this.joinedList({ expr: of, scope }, first && { expr: first.value, scope });
    if (/^(trim|strip|trimEnd|trimStart)$/.test(key) && !first) return trimmed(inner(of));
    return key === "format" ? inner(of) : null;
  }

  /** A number as text; any other value unchanged. */
  private numberIn(bound: Bound): string | Bound {
    const { expr } = this.resolve(bound);
    return expr.is === "number" || expr.is === "boolean" ? String(expr.value) : bound;
  }

  /** `list.join(text)` and `text.join(list)`. */
  private joinedList(of: Bound, argument: Bound | undefined): (string | Bound)[] | null {
    const own = this.items(of);
    const list = own ?? (argument ? this.items(argument) : null);
    const separator = own ? (argument ? this.text(argument) : ",") : this.text(of);
    if (!list || separator === null) return null;
    return list.flatMap((item, at) => [...(at > 0 ? [separator] : []), ...(this.pieces(item) ?? [item])]);
  }

  /** Written pieces next to each other as one. */
  private joined(parts: readonly (string | Bound)[]): (string | Bound)[] {
    this.work.makeList(parts.length);
    this.work.makeText(parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0));
    const pieces: (string | Bound)[] = [];
    let text = "";
    for (const part of parts)
      if (typeof part === "string") text += part;
      else {
        if (text) pieces.push(text);
        pieces.push(part);
        text = "";
      }
    return text || pieces.length === 0 ? [...pieces, text] : pieces;
  }

  /** The items of a list, with those of lists in it; null where code makes it. What only code can tell is one of them. */
  items(bound: Bound): Bound[] | null {
    const value = this.resolve(bound);
    return this.once(this.lists, value, () => this.itemsIn(value));
  }

  private itemsIn({ expr, scope }: Bound): Bound[] | null {
    const parts: Bound[][] = [];
    if (expr.is === "binary" && expr.operator === "+") {
      const [left, right] = [expr.left, expr.right].map((one) => this.items({ expr: one, scope }));
      if (!left && !right) return null;
      parts.push(left ?? [{ expr: expr.left, scope }], right ?? [{ expr: expr.right, scope }]);
    } else if (expr.is === "list")
      for (const item of expr.items) {
        const own = { expr: "spread" in item ? item.spread : item, scope };
        parts.push(("spread" in item && this.items(own)) || [own]);
      }
    else return null;
    this.work.makeList(parts.reduce((sum, { length }) => sum + length, 0));
    return parts.flat();
  }

  /** The value that something always is, as JSON; undefined where it depends on anything. */
  json(bound: Bound) {
    return this.text(bound) ?? jsonOf(this.resolve(bound).expr);
  }

  /** The value of a record under a key. */
  entry(bound: Bound, ...keys: string[]): Bound | null {
    const { expr, scope } = this.resolve(bound);
    for (const key of expr.is === "record" ? keys : []) {
      const value = expr.is === "record" ? entryOf(expr, key) : null;
      if (value) return { expr: value, scope };
    }
    return null;
  }

  /** What a call is given under a name: a keyword argument, or an entry of a record that it is given. */
  argument({ expr, scope }: Bound<CallExpr>, ...names: string[]): Bound | null {
    for (const { name, value } of expr.args) {
      if (name !== null && names.includes(name)) return { expr: value, scope };
      const found = name === null ? this.entry({ expr: value, scope }, ...names) : null;
      if (found) return found;
    }
    return null;
  }

  /** The nth argument without a name. */
  positional({ expr, scope }: Bound<CallExpr>, at = 0): Bound | null {
    const value = positional(expr, at);
    return value && { expr: value, scope };
  }
}

const isSelf = (expr: Expr): boolean =>
  expr.is === "name" ? /^(self|this|cls|super)$/.test(expr.name) : calledName(expr) === "super";

const unbound = (expr: Expr | null | undefined): Bound | null => (expr ? { expr, scope: NO_SCOPE } : null);

/** The scope of a function in a call. */
function bind(params: readonly Param[], { expr, scope }: Bound<CallExpr>): Scope {
  const plain = expr.args.filter(({ name, isSpread }) => name === null && !isSpread);
  const bound = new Map<string, Bound>();
  for (const [at, { name, takes, value }] of params
    .filter((one) => !/^(self|this|cls)$/.test(one.name))
    .entries()) {
    const given = expr.args.find((one) => one.name === name)?.value ?? plain[at]?.value ?? value;
    if (given) bound.set(name, { expr: given, scope });
    if (given?.is !== "record") continue;
    for (const { key, name: taken } of takes) {
      const entry = entryOf(given, key);
      if (entry) bound.set(taken, { expr: entry, scope });
    }
  }
  return bound;
}

const returnsIn = (statements: readonly Statement[]): Expr[] =>
  statements.flatMap((statement) => [
    ...(statement.is === "return" && statement.value ? [statement.value] : []),
    ...(statement.is === "block" ? returnsIn(statement.body) : []),
  ]);

function assignedIn(statements: readonly Statement[], name: string): Expr | null {
  let found: Expr | null = null;
  for (const statement of statements) {
    if (statement.is === "assign" && statement.target.is === "name" && statement.target.name === name)
      found = statement.value;
    if (statement.is === "block") found = assignedIn(statement.body, name) ?? found;
  }
  return found;
}

/** `field(default_factory=...)`: the default until it is set. */
function defaultOf(value: Expr): Expr {
  if (!isCallOf(value, "field", "Field")) return value;
  return value.args.find(({ name }) => name === "default_factory" || name === "default")?.value ?? value;
}

/** `if __name__ == "__main__"`, `if (require.main === module)`: true where a program is started. */
function isMainGuard([test]: readonly Expr[]): boolean {
  let isMain = false;
  if (test)
    visitParts(test, (expr) => {
      const path = pathOf(expr)?.join(".");
      if (path === "__name__" || path === "require.main" || path === "import.meta.main") isMain = true;
      return true;
    });
  return isMain;
}

/** A text without the indentation that all its lines have. Values count as one character. */
function dedented(pieces: (string | Bound)[] | null): (string | Bound)[] | null {
  if (!pieces) return null;
  const values = pieces.filter((piece) => typeof piece !== "string");
  const text = pieces
    .map((piece) => (typeof piece === "string" ? piece.replaceAll("\0", "") : "\0"))
    .join("");
  const lines = text.split("\n");
  const depths = lines.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const depth = depths.length > 0 ? Math.min(...depths) : 0;
  const texts = lines
    .map((line) => line.slice(Math.min(depth, line.length)))
    .join("\n")
    .split("\0");
  return texts.flatMap((one, at) => [...values.slice(Math.max(at - 1, 0), at), one]);
}

/** A text without leading and trailing whitespace. */
const trimmed = (pieces: (string | Bound)[] | null): (string | Bound)[] | null =>
  pieces?.map((piece, at) => {
    if (typeof piece !== "string") return piece;
    const begun = at === 0 ? piece.trimStart() : piece;
    return at === pieces.length - 1 ? begun.trimEnd() : begun;
  }) ?? null;
