import type { SyntaxNode } from "@lezer/common";
import {
  type Argument,
  type Entry,
  type Expr,
  MAX_NESTING,
  type Param,
  type Spread,
  type Statement,
} from "./program";
import { numberIn, operationOf, other, partsOf, placeOf, type Source, textIn, unescape } from "./syntax";

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
      } else if (part.name === "VariableName")
        params.push({ name: textIn(this.source, part), takes: [], value: null });
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
      case "ConditionalExpression":
        return operationOf(
          node,
          parts
            .filter((part) => !OPERATOR_NODES.test(part.name))
            .map((part) => this.expression(part, depth + 1)),
          parts.length < 4 ? textIn(source, parts.at(-2) ?? node) : "",
        );
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
      // A generator expression without its own brackets is one value, which can't be evaluated here.
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

const OPERATOR_NODES = /^(and|or|not|if|else|in|is|[A-Z]\w*Op)$/;
