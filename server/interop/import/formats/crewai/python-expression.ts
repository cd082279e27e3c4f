import type { Scope } from "../../code/evaluator";
import { calledName, jsonOf, pathOf, positional } from "../../code/literals";
import type { CallExpr, Expr, Program } from "../../code/program";

/** What the names in a method's code stand for, in the expressions of a flow (`state.x`, `outputs.method`). */
export interface KnownValues {
  program: Program;
  locals: ReadonlyMap<string, string>;
  /** What variables were last set to. */
  scope: Scope;
  /** Values that the method writes to the state, by field. */
  writes: ReadonlyMap<string, string>;
  /** The answers of crews, agents and models: by the call that gives them, and as expressions. */
  calls: ReadonlyMap<Expr, string>;
  answers: ReadonlySet<string>;
  /** Constants of the module and of the class. */
  constant(expr: Expr): Expr | null;
  /** JSON Schema type of a field of the state. */
  typeOf(field: string): unknown;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Parts of an answer that are its text, whichever library gives it. */
const TEXT_PARTS = /^(raw|output|content|text|choices|message|result)$/;
const DATA_PARTS = /^(pydantic|json_dict)$/;
const METHODS: Readonly<Record<string, string>> = {
  lower: "lowerAscii",
  upper: "upperAscii",
  strip: "trim",
  startswith: "startsWith",
  endswith: "endsWith",
  replace: "replace",
};
const FUNCTIONS: Readonly<Record<string, string>> = {
  len: "size",
  str: "string",
  int: "int",
  float: "double",
};
const COMPARISONS = new Set(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"]);
/** Longer expressions come of many branches; nobody could read them. */
const MOST_CHARS = 2000;

/** The field of the state that an expression names: `self.state.x`, `self.state["x"]`. */
export function stateField(expr: Expr): string | null {
  if (expr.is !== "member" || pathOf(expr.of)?.join(".") !== "self.state") return null;
  return IDENTIFIER.test(expr.key) ? expr.key : null;
}

/** Writes Python's expressions as CEL; null where only Python can tell the value. */
export class FlowExpressions {
  private readonly open = new Set<string>();
  private readonly done = new Map<Expr, string | null>();

  constructor(private readonly known: KnownValues) {}

  value(expr: Expr): string | null {
    const known = this.done.get(expr);
    if (known !== undefined) return known;
    const written = this.valueOf(expr);
    const value = written !== null && written.length <= MOST_CHARS ? written : null;
    this.done.set(expr, value);
    return value;
  }

  /** The value of a field of the state. */
  field(name: string): string {
    return this.known.writes.get(name) ?? `state.${name}`;
  }

  /** A text for people and models, with `${...}` where values stand; null if one of them can't be written. */
  text(expr: Expr): string | null {
    if (expr.is === "text")
      return joined(expr.parts.map((part) => (typeof part === "string" ? part : this.text(part))));
    if (expr.is === "binary" && expr.operator === "+")
      return joined([this.text(expr.left), this.text(expr.right)]);
    const called = calledName(expr);
    const [first] = expr.is === "call" ? expr.args : [];
    if (/^(dedent|cleandoc)$/.test(called ?? "") && first)
      return (
        this.text(first.value)
          ?.replaceAll(/^[ \t]+/gm, "")
          .trim() ?? null
      );
    const local = expr.is === "name" && this.known.locals.has(expr.name) ? expr.name : null;
    const set = local !== null && !this.open.has(local) ? this.known.scope.get(local)?.expr : undefined;
    if (local !== null && (set?.is === "text" || set?.is === "binary")) {
      // A text may be made of what the variable was before.
      this.open.add(local);
      const text = this.text(set);
      this.open.delete(local);
      return text;
    }
    const constant = this.known.constant(expr);
    if (constant?.is === "text") return this.text(constant);
    const value = this.value(expr);
    return value === null ? null : `\${${value}}`;
  }

  /** A condition: what Python takes for true, of values whose type is known. */
  test(expr: Expr): string | null {
    const value = this.value(expr);
    if (value === null || this.isBoolean(expr)) return value;
    switch (this.typeOf(expr)) {
      case "string":
        return `(${value} != "")`;
      case "array":
        return `(size(${value}) > 0)`;
      case "integer":
      case "number":
        return `(${value} != 0)`;
    }
    return null;
  }

  private valueOf(expr: Expr): string | null {
    const answer = this.known.calls.get(expr);
    if (answer !== undefined) return answer;
    const field = stateField(expr);
    if (field !== null) return this.field(field);
    switch (expr.is) {
      case "text":
        return this.textValue(expr.parts);
      case "list": {
        const items = expr.items.map((item) => ("spread" in item ? null : this.value(item)));
        return items.includes(null) ? null : `[${items.join(", ")}]`;
      }
      case "record": {
        const entries = expr.entries.map((entry) => {
          const value = "spread" in entry ? null : this.value(entry.value);
          return "spread" in entry || value === null ? null : `${JSON.stringify(entry.key)}: ${value}`;
        });
        return entries.includes(null) ? null : `{${entries.join(", ")}}`;
      }
      case "name":
        return this.known.locals.get(expr.name) ?? this.constant(expr);
      case "member":
        return this.member(expr.of, expr.key) ?? this.constant(expr);
      case "index":
        return this.item(expr.of, expr.index);
      case "call":
        return this.call(expr);
      case "binary":
        return expr.operator === "+" ? this.infix(expr.left, "+", expr.right) : null;
      case "operation":
        return this.operation(expr.operands, expr);
    }
    return this.constant(expr);
  }

  private constant(expr: Expr): string | null {
    const value = jsonOf(this.known.constant(expr) ?? expr);
    return value === undefined ? null : JSON.stringify(value);
  }

  private textValue(parts: readonly (string | Expr)[]): string | null {
    if (parts.length === 0) return '""';
    const pieces = parts.map((part) => {
      if (typeof part === "string") return JSON.stringify(part);
      const value = this.value(part);
      return value === null ? null : `string(${value})`;
    });
    return pieces.includes(null) ? null : pieces.join(" + ");
  }

  private member(of: Expr, key: string): string | null {
    const value = this.value(of);
    if (value === null || value === "null") return null;
    if (of.is === "member" && DATA_PARTS.test(of.key) && this.known.answers.has(value))
      return `${value}.${key}`;
    if (this.known.answers.has(value)) return TEXT_PARTS.test(key) || DATA_PARTS.test(key) ? value : null;
    return IDENTIFIER.test(key) ? `${value}.${key}` : `${value}[${JSON.stringify(key)}]`;
  }

  private item(of: Expr, index: Expr): string | null {
    const value = this.value(of);
    const at = this.value(index);
    if (value === null || at === null || at.startsWith("-")) return null;
    // `choices[0]` of an answer.
    if (this.known.answers.has(value)) return of.is === "member" && of.key === "choices" ? value : null;
    return `${value}[${at}]`;
  }

  private call(expr: CallExpr): string | null {
    const { callee, args } = expr;
    const values = args.map(({ value, name, isSpread }) => (name || isSpread ? null : this.value(value)));
    if (values.includes(null)) return null;
    if (callee.is === "name") {
      const called = FUNCTIONS[callee.name];
      const [only, ...more] = values;
      if (called === undefined || !only || more.length > 0) return null;
      return callee.name === "str" && this.known.answers.has(only) ? only : `${called}(${only})`;
    }
    if (callee.is !== "member") return null;
    const field = positional(expr);
    if (callee.key === "get" && field?.is === "text" && pathOf(callee.of)?.join(".") === "self.state") {
      const [name] = field.parts;
      if (typeof name !== "string" || !IDENTIFIER.test(name)) return null;
      return this.known.writes.get(name) ?? `(has(state.${name}) ? state.${name} : ${values[1] ?? "null"})`;
    }
    const of = this.value(callee.of);
    if (of === null) return null;
    if (/^(model_dump|to_dict|dict)$/.test(callee.key) && args.length === 0) return of;
    const method = METHODS[callee.key];
    return method === undefined ? null : `${of}.${method}(${values.join(", ")})`;
  }

  private infix(left: Expr, operator: string, right: Expr): string | null {
    const [first, second] = [this.value(left), this.value(right)];
    return first === null || second === null ? null : `(${first} ${operator} ${second})`;
  }

  private operation(operands: readonly Expr[], expr: Expr): string | null {
    const [first, second, third] = operands;
    if (first && second && third) {
      if (this.between(first, second) !== "if") return null;
      return this.choice(this.test(second), this.value(first), this.value(third));
    }
    const operator = this.operatorOf(expr);
    if (!first) return null;
    if (!second) {
      const test = operator === "not" ? this.test(first) : null;
      const value = operator === "-" ? this.value(first) : null;
      return test !== null ? `!${test}` : value !== null ? `-${value}` : null;
    }
    switch (operator) {
      case "and":
      case "or": {
        const sign = operator === "and" ? "&&" : "||";
        if (this.isBoolean(first) && this.isBoolean(second)) return this.infix(first, sign, second);
        // `a or b` is a, unless a is empty.
        return operator === "or"
          ? this.choice(this.test(first), this.value(first), this.value(second))
          : null;
      }
      case "in":
      case "not in": {
        const found = this.isIn(first, second);
        return found && operator === "not in" ? `!${found}` : found;
      }
      case "is":
      case "is not":
        return this.infix(first, operator === "is" ? "==" : "!=", second);
      case "-":
      case "*":
        return this.infix(first, operator, second);
    }
    // `a < b < c`
    const isChain = COMPARISONS.has(this.operatorOf(first) ?? "");
    return operator !== null && COMPARISONS.has(operator) && !isChain
      ? this.infix(first, operator, second)
      : null;
  }

  choice(test: string | null, yes: string | null, no: string | null): string | null {
    return test === null || yes === null || no === null ? null : `(${test} ? ${yes} : ${no})`;
  }

  private isIn(item: Expr, list: Expr): string | null {
    if (list.is === "list" || this.typeOf(list) === "array") return this.infix(item, "in", list);
    if (this.typeOf(item) !== "string" || this.typeOf(list) !== "string") return null;
    const [part, whole] = [this.value(item), this.value(list)];
    return part === null || whole === null ? null : `${whole}.contains(${part})`;
  }

  /** The text between two operands, without brackets. */
  private between(left: Pick<Expr, "to">, right: Pick<Expr, "from">): string {
    return this.known.program.text
      .slice(left.to, right.from)
      .replaceAll(/[()\s\\]+/g, " ")
      .trim();
  }

  private operatorOf(expr: Expr): string | null {
    if (expr.is !== "operation") return null;
    const [first, second] = expr.operands;
    if (!first) return null;
    return second ? this.between(first, second) : this.between({ to: expr.from }, first);
  }

  private isBoolean(expr: Expr): boolean {
    if (expr.is === "call") return /^(startswith|endswith)$/.test(calledName(expr) ?? "");
    if (expr.is !== "operation" || expr.operands.length > 2) return this.typeOf(expr) === "boolean";
    const operator = this.operatorOf(expr) ?? "";
    if (operator === "and" || operator === "or") return expr.operands.every((one) => this.isBoolean(one));
    return operator === "not" || COMPARISONS.has(operator);
  }

  private typeOf(expr: Expr): unknown {
    const field = stateField(expr);
    if (field !== null) return this.known.typeOf(field);
    const value = this.value(expr);
    if (value !== null && this.known.answers.has(value)) return "string";
    if (expr.is === "text") return "string";
    if (expr.is === "boolean") return "boolean";
    return expr.is === "call" && /^(lower|upper|strip|str)$/.test(calledName(expr) ?? "")
      ? "string"
      : undefined;
  }
}

const joined = (parts: readonly (string | null)[]): string | null =>
  parts.includes(null) ? null : parts.join("");
