import type { SyntaxNode } from "@lezer/common";
import {
  type Argument,
  type BinaryOperator,
  type Entry,
  type Expr,
  MAX_NESTING,
  type Param,
  type Spread,
  type Statement,
} from "./program";
import { numberIn, other, partsOf, placeOf, type Source, textIn, unescape } from "./syntax";

const OPERATORS: Readonly<Record<string, BinaryOperator>> = Object.fromEntries(
  (["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "|", "in"] as const).map((one) => [one, one]),
);
const COMPARES: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** Reads expressions. */
export class Expressions {
  constructor(private readonly source: Source) {}

  typeOf(node: SyntaxNode, depth: number): Expr | null {
    const inner = partsOf(node).find(({ name }) => name !== ":" && name !== "->");
    return inner ? this.expression(inner, depth + 1) : null;
  }

  params(own: readonly SyntaxNode[], depth: number): Param[] {
    const list = own.find(({ name }) => name === "ParamList");
    const params: Param[] = [];
    let wantsValue = false;
    for (const part of list ? partsOf(list) : []) {
      const last = params.at(-1);
      if (part.name === "AssignOp") wantsValue = true;
      else if (wantsValue && last) {
        last.value = this.expression(part, depth + 1);
        wantsValue = false;
      } else if (part.name === "TypeDef" && last) last.type = this.typeOf(part, depth);
      else if (part.name === "VariableName")
        params.push({ name: textIn(this.source, part), takes: [], type: null, value: null });
    }
    return params;
  }

  /** A text without its quotes and prefix; the values of an f-string stand between its pieces. */
  private textOf(node: SyntaxNode, depth: number): (string | Expr)[] {
    const text = textIn(this.source, node);
    const prefix = /^[A-Za-z]*/.exec(text)?.[0] ?? "";
    const quote = /^("""|'''|"|')/.exec(text.slice(prefix.length))?.[0] ?? '"';
    const isRaw = /r/i.test(prefix);
    const isFormat = node.name === "FormatString";
    let from = node.from + prefix.length + quote.length;
    const isClosed = text.length >= prefix.length + 2 * quote.length && text.endsWith(quote);
    const end = isClosed ? node.to - quote.length : node.to;
    const parts: (string | Expr)[] = [];
    const addText = (to: number) => {
      const piece = this.source.text.slice(from, Math.max(from, to)).replaceAll("\r\n", "\n");
      const plain = isFormat ? piece.replace(/\{\{|\}\}/g, (two) => two.charAt(0)) : piece;
      if (plain) parts.push(isRaw ? plain : unescape(plain));
    };
    for (const part of isFormat ? partsOf(node) : []) {
      if (part.name !== "FormatReplacement") continue;
      addText(part.from);
      from = part.to;
      const inner = partsOf(part);
      const [, value] = inner;
      const isPlain = inner.every(({ name }) => name !== "FormatSpec");
      if (value) parts.push(isPlain ? this.expression(value, depth + 1) : other(part));
    }
    addText(end);
    return parts;
  }

  expression(node: SyntaxNode, depth: number): Expr {
    const { source } = this;
    source.work.spend(1);
    if (depth > MAX_NESTING) return other(node);
    const place = placeOf(node);
    const parts = partsOf(node);
    const [first, second] = parts;
    switch (node.name) {
      case "VariableName":
        return { is: "name", name: textIn(source, node), ...place };
      case "Boolean":
        return { is: "boolean", value: textIn(source, node) === "True", ...place };
      case "None":
        return { is: "nothing", ...place };
      case "Number": {
        const value = numberIn(source, node);
        return value === null ? other(node) : { is: "number", value, ...place };
      }
      case "String":
      case "FormatString":
        return { is: "text", parts: this.textOf(node, depth), ...place };
      case "ContinuedString":
        return { is: "text", parts: parts.flatMap((part) => this.textOf(part, depth)), ...place };
      case "ParenthesizedExpression":
        return second && parts.length === 3 ? this.expression(second, depth + 1) : other(node);
      case "AwaitExpression":
        return second ? this.expression(second, depth + 1) : other(node);
      case "MemberExpression":
        return first ? this.memberOf(node, first, parts, depth) : other(node);
      case "CallExpression": {
        const list = parts.find(({ name }) => name === "ArgList");
        if (!first) return other(node);
        const args = list ? this.argumentsOf(list, depth) : [];
        return { is: "call", callee: this.expression(first, depth + 1), args, ...place };
      }
      case "ArrayExpression":
      case "TupleExpression":
      case "SetExpression":
        return { is: "list", items: this.itemsOf(parts, depth), ...place };
      case "DictionaryExpression":
        return { is: "record", entries: this.entriesOf(parts, depth), ...place };
      case "UnaryExpression":
      case "BinaryExpression":
        return this.operation(node, parts, depth);
      case "ConditionalExpression": {
        const [then, , test, , otherwise] = parts;
        if (!then || !test || !otherwise) return other(node);
        return {
          is: "choice",
          test: this.expression(test, depth + 1),
          then: this.expression(then, depth + 1),
          otherwise: this.expression(otherwise, depth + 1),
          ...place,
        };
      }
      case "LambdaExpression": {
        const value = parts.at(-1);
        if (!value) return other(node);
        const body: Statement[] = [
          { is: "return", value: this.expression(value, depth + 1), ...placeOf(value) },
        ];
        return { is: "function", params: this.params(parts, depth), body, ...place };
      }
    }
    return other(node);
  }

  /** The parser binds `not` too loosely (`not a or b` as `not (a or b)`), so logic is put together anew from its tokens. */
  private operation(node: SyntaxNode, parts: readonly SyntaxNode[], depth: number): Expr {
    const [first, second, third] = parts;
    if (!first || !second) return other(node);
    const place = placeOf(node);
    if (this.isLogic(node)) return logicOf(this.tokens(node, depth)) ?? other(node);
    if (node.name === "UnaryExpression")
      return textIn(this.source, first) === "-"
        ? { is: "negative", of: this.expression(second, depth + 1), ...place }
        : other(node);
    const right = parts.at(-1);
    if (!third || !right) return other(node);
    const sign = parts
      .slice(1, -1)
      .map((part) => textIn(this.source, part))
      .join(" ");
    const read = (): [Expr, Expr] => [this.expression(first, depth + 1), this.expression(right, depth + 1)];
    if (sign === "not in") {
      const [left, list] = read();
      return { is: "not", of: { is: "binary", operator: "in", left, right: list, ...place }, ...place };
    }
    const operator = sign === "is" ? "==" : sign === "is not" ? "!=" : OPERATORS[sign];
    if (!operator) return other(node);
    // 1 < x < 3 means both; it is left as text.
    const inner = first.name === "BinaryExpression" ? partsOf(first)[1] : undefined;
    if (COMPARES.has(operator) && inner && COMPARES.has(textIn(this.source, inner))) return other(node);
    const [left, side] = read();
    return { is: "binary", operator, left, right: side, ...place };
  }

  private isLogic(node: SyntaxNode): boolean {
    const parts = partsOf(node);
    return node.name === "UnaryExpression"
      ? parts[0]?.name === "not"
      : node.name === "BinaryExpression" && (parts[1]?.name === "and" || parts[1]?.name === "or");
  }

  /** A logical expression as it is read aloud: operands and `and`, `or`, `not` between them. */
  private tokens(root: SyntaxNode, depth: number): LogicToken[] {
    const tokens: LogicToken[] = [];
    const stack: (SyntaxNode | "and" | "or" | "not")[] = [root];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (typeof next === "string") tokens.push(next);
      else if (!this.isLogic(next)) tokens.push(this.expression(next, depth + 1));
      else
        for (const part of partsOf(next).reverse())
          stack.push(part.name === "and" || part.name === "or" || part.name === "not" ? part.name : part);
    }
    return tokens;
  }

  private memberOf(node: SyntaxNode, first: SyntaxNode, parts: readonly SyntaxNode[], depth: number): Expr {
    const of = this.expression(first, depth + 1);
    const property = parts.find(({ name }) => name === "PropertyName");
    if (property) return { is: "member", of, key: textIn(this.source, property), ...placeOf(node) };
    const inner = parts
      .slice(parts.findIndex(({ name }) => name === "[") + 1)
      .filter(({ name }) => name !== "]");
    if (inner.some(({ name }) => name === ":")) return other(node);
    const items = inner.filter(({ name }) => name !== ",");
    const [index] = items;
    if (!index) return other(node);
    // Types take several: Literal["a", "b"].
    if (items.length > 1)
      return {
        is: "index",
        of,
        index: {
          is: "list",
          items: items.map((item) => this.expression(item, depth + 1)),
          ...placeOf(index),
        },
        ...placeOf(node),
      };
    if (index.name === "String") {
      const [key] = this.textOf(index, depth);
      return { is: "member", of, key: typeof key === "string" ? key : "", ...placeOf(node) };
    }
    return { is: "index", of, index: this.expression(index, depth + 1), ...placeOf(node) };
  }

  argumentsOf(list: SyntaxNode, depth: number): Argument[] {
    const args: Argument[] = [];
    const parts = partsOf(list);
    let isSpread = false;
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at];
      const value = parts[at + 2];
      if (!part || /^[(),]$/.test(part.name)) continue;
      // What is computed for each of a list, without brackets of its own, is one value that nobody can read here.
      if (part.name === "for") return args.slice(0, -1);
      if (part.name === "*" || part.name === "**") isSpread = true;
      else if (part.name === "VariableName" && parts[at + 1]?.name === "AssignOp" && value) {
        args.push({
          name: textIn(this.source, part),
          value: this.expression(value, depth + 1),
          isSpread: false,
        });
        at += 2;
      } else {
        args.push({ name: null, value: this.expression(part, depth + 1), isSpread });
        isSpread = false;
      }
    }
    return args;
  }

  private itemsOf(parts: readonly SyntaxNode[], depth: number): (Expr | Spread)[] {
    const items: (Expr | Spread)[] = [];
    let isSpread = false;
    for (const part of parts) {
      if (part.name === "*" || part.name === "**") isSpread = true;
      else if (!/^[[\](){},]$/.test(part.name)) {
        const value = this.expression(part, depth + 1);
        items.push(isSpread ? { spread: value } : value);
        isSpread = false;
      }
    }
    return items;
  }

  private entriesOf(parts: readonly SyntaxNode[], depth: number): (Entry | Spread)[] {
    const entries: (Entry | Spread)[] = [];
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at];
      const next = parts[at + 1];
      if (!part || /^[{},]$/.test(part.name)) continue;
      if (part.name === "**" && next) {
        entries.push({ spread: this.expression(next, depth + 1) });
        at++;
      } else if (next?.name === ":") {
        const value = parts[at + 2];
        const keys = part.name === "String" ? this.textOf(part, depth) : [];
        const [key] = keys.length === 0 && part.name === "String" ? [""] : keys;
        if (value && typeof key === "string") entries.push({ key, value: this.expression(value, depth + 1) });
        else entries.push({ spread: other(part) });
        at += 2;
      }
    }
    return entries;
  }
}

/** An operand of a logical expression, or an operator. */
type LogicToken = Expr | "and" | "or" | "not";

/** Logic by Python's precedence: `not` before `and` before `or`. Null where the tokens make no sense. */
function logicOf(tokens: readonly LogicToken[]): Expr | null {
  const ors: Expr[] = [];
  let ands: Expr[] = [];
  let nots = 0;
  let wantsOperand = true;
  for (const token of tokens) {
    if (wantsOperand !== (typeof token !== "string" || token === "not")) return null;
    if (token === "not") nots++;
    else if (typeof token === "string") {
      wantsOperand = true;
      if (token === "or") {
        ors.push(joined("&&", ands));
        ands = [];
      }
    } else {
      ands.push(nots % 2 === 0 ? (nots === 0 ? token : negated(negated(token))) : negated(token));
      nots = 0;
      wantsOperand = false;
    }
  }
  if (wantsOperand) return null;
  return joined("||", [...ors, joined("&&", ands)]);
}

const negated = (of: Expr): Expr => ({ is: "not", of, from: of.from, to: of.to });

function joined(operator: "&&" | "||", operands: readonly Expr[]): Expr {
  return operands.reduce((left, right) => ({
    is: "binary",
    operator,
    left,
    right,
    from: left.from,
    to: right.to,
  }));
}
