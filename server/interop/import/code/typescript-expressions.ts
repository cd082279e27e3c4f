import type { SyntaxNode } from "@lezer/common";
import {
  type Argument,
  type Entry,
  type Expr,
  MAX_NESTING,
  type Param,
  type Spread,
  type Statement,
  type Taken,
} from "./program";
import { numberIn, operationOf, other, partsOf, placeOf, type Source, textIn, unescape } from "./syntax";

/** Reads expressions. `block`: what reads the body of a function. */
export class Expressions {
  constructor(
    private readonly source: Source,
    private readonly block: (node: SyntaxNode, depth: number) => Statement[],
  ) {}

  private taken(pattern: SyntaxNode): Taken[] {
    return partsOf(pattern)
      .filter(({ name }) => name === "PatternProperty")
      .flatMap((property) => {
        const inner = partsOf(property);
        const name = inner.findLast((part) => part.name === "VariableDefinition");
        const key = inner.find((part) => part.name === "PropertyName");
        return name ? [{ key: textIn(this.source, key ?? name), name: textIn(this.source, name) }] : [];
      });
  }

  functionOf(node: SyntaxNode, depth: number): { params: Param[]; body: Statement[] } {
    const parts = partsOf(node);
    const list = parts.find(({ name }) => name === "ParamList");
    const params: Param[] = [];
    for (const [at, part] of (list ? partsOf(list) : []).entries()) {
      if (part.name === "VariableDefinition")
        params.push({ name: textIn(this.source, part), takes: [], value: null });
      else if (part.name === "ObjectPattern")
        params.push({ name: `parameter ${at}`, takes: this.taken(part), value: null });
    }
    const last = parts.at(-1);
    if (last?.name === "Block") return { params, body: this.block(last, depth) };
    if (!last || last === list) return { params, body: [] };
    return { params, body: [{ is: "return", value: this.expression(last, depth), ...placeOf(last) }] };
  }

  string(node: SyntaxNode): string {
    const text = textIn(this.source, node);
    const isClosed = text.length > 1 && text.endsWith(text.charAt(0));
    return unescape(text.slice(1, isClosed ? -1 : undefined));
  }

  private templateOf(node: SyntaxNode, depth: number): Expr {
    const parts: (string | Expr)[] = [];
    let from = node.from + 1;
    const end = textIn(this.source, node).endsWith("`") && node.to > node.from + 1 ? node.to - 1 : node.to;
    const addText = (to: number) => {
      if (to > from) parts.push(unescape(this.source.text.slice(from, to)).replaceAll("\r\n", "\n"));
    };
    for (const part of partsOf(node)) {
      if (part.name !== "Interpolation") continue;
      addText(part.from);
      from = part.to;
      const inner = partsOf(part).find(
        ({ name }) => name !== "InterpolationStart" && name !== "InterpolationEnd",
      );
      if (inner) parts.push(this.expression(inner, depth + 1));
    }
    addText(end);
    return { is: "text", parts, ...placeOf(node) };
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
      case "super":
      case "this": {
        const name = textIn(source, node);
        return name === "undefined" ? { is: "nothing", ...place } : { is: "name", name, ...place };
      }
      case "BooleanLiteral":
        return { is: "boolean", value: textIn(source, node) === "true", ...place };
      case "null":
        return { is: "nothing", ...place };
      case "Number": {
        const value = numberIn(source, node);
        return value === null ? other(node) : { is: "number", value, ...place };
      }
      case "String":
        return { is: "text", parts: [this.string(node)], ...place };
      case "TemplateString":
        return this.templateOf(node, depth);
      case "ParenthesizedExpression": {
        const inner = parts.find(({ name }) => name !== "(" && name !== ")" && name !== "TypeAnnotation");
        return inner ? this.expression(inner, depth + 1) : other(node);
      }
      case "AwaitExpression":
        return second ? this.expression(second, depth + 1) : other(node);
      case "InstantiationExpression":
        return first ? this.expression(first, depth + 1) : other(node);
      case "PostfixExpression":
        return first && second && textIn(source, second) === "!"
          ? this.expression(first, depth + 1)
          : other(node);
      case "MemberExpression":
        return first ? this.memberOf(node, first, parts, depth) : other(node);
      case "CallExpression":
      case "NewExpression":
      case "TaggedTemplateExpression": {
        const callee = first?.name === "new" ? second : first;
        if (!callee) return other(node);
        return {
          is: "call",
          callee: this.expression(callee, depth + 1),
          args: this.argumentsOf(parts, depth),
          ...place,
        };
      }
      case "ArrayExpression":
        return { is: "list", items: this.itemsOf(parts.slice(1), depth), ...place };
      case "ObjectExpression":
        return { is: "record", entries: this.entriesOf(parts, depth), ...place };
      case "ArrowFunction":
      case "FunctionExpression":
        return { is: "function", ...this.functionOf(node, depth + 1), ...place };
      case "UnaryExpression":
      case "BinaryExpression":
      case "ConditionalExpression": {
        if (!first || !second) return other(node);
        const operator = textIn(source, parts.length === 2 ? first : second);
        if (operator === "as" || operator === "satisfies") return this.expression(first, depth + 1);
        const operands = parts.filter(
          ({ name }) => !/Op$|^(LogicOp|typeof|void|delete|in|instanceof)$/.test(name),
        );
        return operationOf(
          node,
          operands.map((part) => this.expression(part, depth + 1)),
          operator,
        );
      }
    }
    return other(node);
  }

  private memberOf(node: SyntaxNode, first: SyntaxNode, parts: readonly SyntaxNode[], depth: number): Expr {
    const of = this.expression(first, depth + 1);
    const property = parts.find(({ name }) => name === "PropertyName");
    if (property) return { is: "member", of, key: textIn(this.source, property), ...placeOf(node) };
    const at = parts.findIndex(({ name }) => name === "[");
    const inner = at < 0 ? undefined : parts[at + 1];
    if (!inner) return other(node);
    if (inner.name === "String") return { is: "member", of, key: this.string(inner), ...placeOf(node) };
    return { is: "index", of, index: this.expression(inner, depth + 1), ...placeOf(node) };
  }

  private argumentsOf(parts: readonly SyntaxNode[], depth: number): Argument[] {
    const tagged = parts.find(({ name }, at) => at > 0 && name === "TemplateString");
    if (tagged) return [{ name: null, value: this.expression(tagged, depth + 1), isSpread: false }];
    const list = parts.find(({ name }) => name === "ArgList");
    return this.itemsOf(list ? partsOf(list).slice(1) : [], depth).map((item) =>
      "spread" in item
        ? { name: null, value: item.spread, isSpread: true }
        : { name: null, value: item, isSpread: false },
    );
  }

  private itemsOf(parts: readonly SyntaxNode[], depth: number): (Expr | Spread)[] {
    const items: (Expr | Spread)[] = [];
    let isSpread = false;
    for (const part of parts) {
      if (part.name === "Spread") isSpread = true;
      else if (part.name !== "," && part.name !== "]" && part.name !== ")") {
        const value = this.expression(part, depth + 1);
        items.push(isSpread ? { spread: value } : value);
        isSpread = false;
      }
    }
    return items;
  }

  private entriesOf(parts: readonly SyntaxNode[], depth: number): (Entry | Spread)[] {
    return parts
      .filter(({ name }) => name === "Property")
      .flatMap((property): (Entry | Spread)[] => {
        const inner = partsOf(property);
        const [first] = inner;
        if (!first) return [];
        const last = inner.at(-1) ?? first;
        if (first.name === "Spread")
          return last === first ? [] : [{ spread: this.expression(last, depth + 1) }];
        // A computed key is unknown; it is kept as text.
        if (first.name === "[") return [{ spread: other(property) }];
        const key = first.name === "String" ? this.string(first) : textIn(this.source, first);
        if (inner.some(({ name }) => name === "ParamList"))
          return [
            { key, value: { is: "function", ...this.functionOf(property, depth + 1), ...placeOf(property) } },
          ];
        if (first === last) return [{ key, value: { is: "name", name: key, ...placeOf(first) } }];
        return [{ key, value: this.expression(last, depth + 1) }];
      });
  }
}
