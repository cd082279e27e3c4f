import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/python";
import type { Work } from "@/server/domain/base/work-budget";
import { type Expr, type Field, MAX_NESTING, type Program, type Statement, type Taken } from "./program";
import { Expressions } from "./python-expressions";
import { other, parseSource, partsOf, placeOf, type Source, textIn } from "./syntax";

/** Reads Python. What cannot be understood is left as text. Throws ProgramError where there is too much. */
export function readPython(text: string, work: Work): Program {
  const { source, tree, faults } = parseSource(text, parser, work);
  return { language: "python", text, body: new Reader(source).block(tree.topNode, 0), faults };
}

class Reader {
  private readonly expressions: Expressions;

  constructor(private readonly source: Source) {
    this.expressions = new Expressions(source);
  }

  block(node: SyntaxNode, depth: number): Statement[] {
    return partsOf(node)
      .filter(({ name }) => name !== ":")
      .flatMap((part) => this.statement(part, depth + 1));
  }

  private statement(node: SyntaxNode, depth: number): Statement[] {
    const { source } = this;
    source.work.spend(1);
    const place = placeOf(node);
    if (depth > MAX_NESTING) return [{ is: "other", ...place }];
    const parts = partsOf(node);
    const [first] = parts;
    const bodies = parts.filter(({ name }) => name === "Body");
    switch (node.name) {
      case "StatementGroup":
        return parts.filter(({ name }) => name !== ";").flatMap((part) => this.statement(part, depth + 1));
      case "ImportStatement":
        return [this.importOf(parts, node)];
      case "DecoratedStatement":
      case "FunctionDefinition":
      case "ClassDefinition":
        return [this.definition(node, depth)];
      case "AssignStatement":
        return this.assigned(node, parts, depth);
      case "UpdateStatement": {
        const [target, sign, value] = parts;
        const operator = sign ? textIn(source, sign) : "";
        if (!target || !value || (operator !== "+=" && operator !== "-=")) break;
        const read = {
          target: this.expressions.expression(target, depth),
          value: this.expressions.expression(value, depth),
        };
        return [{ is: "assign", ...read, operator, type: null, isNew: false, ...place }];
      }
      case "ExpressionStatement":
        return first ? [{ is: "do", value: this.expressions.expression(first, depth), ...place }] : [];
      case "IfStatement":
        return [this.ifOf(parts, depth, node)];
      case "WhileStatement": {
        const [, test] = parts;
        const [body, otherwise] = bodies;
        if (!test || !body) break;
        return [
          {
            is: "while",
            test: this.expressions.expression(test, depth),
            body: this.block(body, depth),
            isAfter: false,
            ...place,
          },
          ...(otherwise ? this.block(otherwise, depth) : []),
        ];
      }
      case "ForStatement": {
        const names = parts.slice(parts.findIndex(({ name }) => name === "for") + 1);
        const at = names.findIndex(({ name }) => name === "in");
        const [body] = bodies;
        const [name] = names;
        const list = names[at + 1];
        if (at < 0 || !body || !list) break;
        return [
          {
            is: "for",
            name: at === 1 && name ? textIn(source, name) : null,
            of: this.expressions.expression(list, depth),
            body: this.block(body, depth),
            ...place,
          },
        ];
      }
      case "ReturnStatement": {
        const values = parts.filter(({ name }) => name !== "return" && name !== ",");
        const [value] = values;
        if (values.length > 1)
          return [
            {
              is: "return",
              value: {
                is: "list",
                items: values.map((one) => this.expressions.expression(one, depth)),
                ...place,
              },
              ...place,
            },
          ];
        return [{ is: "return", value: value ? this.expressions.expression(value, depth) : null, ...place }];
      }
      case "RaiseStatement":
        return [{ is: "throw", ...place }];
      case "BreakStatement":
        return [{ is: "break", ...place }];
      case "ContinueStatement":
        return [{ is: "continue", ...place }];
      case "PassStatement":
      case "ScopeStatement":
      case "TypeDefinition":
      case ";":
        return [{ is: "nothing", ...place }];
      case "WithStatement": {
        const [body] = bodies;
        const head = parts
          .filter(({ name }) => /Expression$/.test(name))
          .map((part) => this.expressions.expression(part, depth));
        return body ? [{ is: "block", head, body: this.block(body, depth), ...place }] : [];
      }
      case "TryStatement": {
        const [body, ...rest] = bodies;
        return [
          ...rest.map((part): Statement => ({ is: "other", ...placeOf(part) })),
          ...(body ? this.block(body, depth) : []),
        ];
      }
      case "MatchStatement":
        return [this.matchOf(parts, depth, node) ?? { is: "other", ...place }];
    }
    return [{ is: "other", ...place }];
  }

  private importOf(parts: readonly SyntaxNode[], node: SyntaxNode): Statement {
    const at = parts.findIndex(({ name }) => name === "import");
    const from = parts
      .slice(0, at)
      .filter(({ name }) => name !== "from")
      .map((part) => textIn(this.source, part))
      .join("");
    const names: Taken[] = [];
    let isRenamed = false;
    for (const part of parts.slice(at + 1)) {
      const name = textIn(this.source, part);
      if (part.name === "as") isRenamed = true;
      else if (part.name === "VariableName") {
        const last = names.at(-1);
        if (isRenamed && last) last.name = name;
        else names.push({ key: name, name });
        isRenamed = false;
      }
    }
    return { is: "import", module: from || (names[0]?.key ?? ""), names, ...placeOf(node) };
  }

  private assigned(node: SyntaxNode, parts: readonly SyntaxNode[], depth: number): Statement[] {
    const place = placeOf(node);
    const signs = parts.flatMap(({ name }, at) => (name === "AssignOp" ? [at] : []));
    const [first] = parts;
    const type = parts.find(({ name }) => name === "TypeDef");
    const at = signs.at(-1);
    if (!first || at === undefined) return [{ is: "nothing", ...place }];
    const values = parts.slice(at + 1).filter(({ name }) => name !== ",");
    const [value] = values;
    const targets = parts
      .slice(0, at)
      .filter(({ name }) => name !== "TypeDef" && name !== "AssignOp" && name !== ",");
    if (!value || values.length > 1) return [{ is: "other", ...place }];
    const isList = parts.slice(0, at).some(({ name }) => name === ",") || first.name === "TupleExpression";
    if (isList) {
      const names = first.name === "TupleExpression" ? partsOf(first) : targets;
      const taken = names
        .filter(({ name }) => name === "VariableName")
        .map((one, key) => ({ key: String(key), name: textIn(this.source, one) }));
      return [{ is: "take", names: taken, value: this.expressions.expression(value, depth), ...place }];
    }
    return targets.map((target) => ({
      is: "assign",
      target: this.expressions.expression(target, depth),
      value: this.expressions.expression(value, depth),
      operator: "=",
      type: type ? this.expressions.typeOf(type, depth) : null,
      isNew: false,
      ...place,
    }));
  }

  private definition(node: SyntaxNode, depth: number): Statement {
    const parts = partsOf(node);
    const inner =
      parts.find(({ name }) => name === "FunctionDefinition" || name === "ClassDefinition") ?? node;
    const decorators = parts
      .filter(({ name }) => name === "Decorator")
      .map((part) => this.decorator(part, depth));
    const own = partsOf(inner);
    const name = own.find((part) => part.name === "VariableName");
    const body = own.find((part) => part.name === "Body");
    const block = body ? this.block(body, depth) : [];
    const [head] = block;
    const [docText] = head?.is === "do" && head.value.is === "text" ? head.value.parts : [];
    const doc = typeof docText === "string" ? docText.trim() : "";
    const place = placeOf(node);
    const title = name ? textIn(this.source, name) : "";
    if (inner.name === "FunctionDefinition")
      return {
        is: "function",
        name: title,
        params: this.expressions.params(own, depth),
        body: block,
        decorators,
        doc,
        ...place,
      };
    const list = own.find((part) => part.name === "ArgList");
    const bases = list ? this.expressions.argumentsOf(list, depth).map(({ value }) => value) : [];
    return {
      is: "class",
      name: title,
      bases,
      fields: body ? this.fields(body, depth) : [],
      body: block,
      doc,
      ...place,
    };
  }

  /** A decorator's name, or the call that it is. */
  private decorator(node: SyntaxNode, depth: number): Expr {
    const parts = partsOf(node).filter(({ name }) => name !== "At");
    const [first, ...rest] = parts.filter(({ name }) => name === "VariableName" || name === "PropertyName");
    const list = parts.find(({ name }) => name === "ArgList");
    if (!first) return other(node);
    const place = placeOf(node);
    const callee = rest.reduce<Expr>(
      (of, part) => ({ is: "member", of, key: textIn(this.source, part), ...place }),
      { is: "name", name: textIn(this.source, first), ...place },
    );
    return list ? { is: "call", callee, args: this.expressions.argumentsOf(list, depth), ...place } : callee;
  }

  private fields(body: SyntaxNode, depth: number): Field[] {
    return partsOf(body)
      .filter(({ name }) => name === "AssignStatement")
      .flatMap((part) => {
        const parts = partsOf(part);
        const [name] = parts;
        const type = parts.find(({ name }) => name === "TypeDef");
        const at = parts.findIndex(({ name }) => name === "AssignOp");
        const value = at < 0 ? undefined : parts[at + 1];
        if (name?.name !== "VariableName") return [];
        return [
          {
            name: textIn(this.source, name),
            type: type ? this.expressions.typeOf(type, depth) : null,
            value: value ? this.expressions.expression(value, depth + 1) : null,
          },
        ];
      });
  }

  private ifOf(parts: readonly SyntaxNode[], depth: number, node: SyntaxNode): Statement {
    const branches: { test: Expr; body: Statement[] }[] = [];
    let otherwise: Statement[] = [];
    let test: Expr | null = null;
    for (const part of parts) {
      if (part.name === "if" || part.name === "elif" || part.name === "else") test = null;
      else if (part.name !== "Body") test = this.expressions.expression(part, depth);
      else if (test) branches.push({ test, body: this.block(part, depth) });
      else otherwise = this.block(part, depth);
    }
    return { is: "if", branches, otherwise, ...placeOf(node) };
  }

  /** As `if`, where each case is a value, several of them, or anything. */
  private matchOf(parts: readonly SyntaxNode[], depth: number, node: SyntaxNode): Statement | null {
    const [, on] = parts;
    const cases = parts.find(({ name }) => name === "MatchBody");
    if (!on || !cases) return null;
    const value = this.expressions.expression(on, depth);
    const branches: { test: Expr; body: Statement[] }[] = [];
    for (const clause of partsOf(cases).filter(({ name }) => name === "MatchClause")) {
      const inner = partsOf(clause);
      const [, pattern] = inner;
      const body = inner.find(({ name }) => name === "Body");
      if (!pattern || !body || inner.length !== 3) return null;
      const block = this.block(body, depth);
      if (pattern.name === "CapturePattern" && textIn(this.source, pattern) === "_")
        return { is: "if", branches, otherwise: block, ...placeOf(node) };
      const literals = pattern.name === "OrPattern" ? partsOf(pattern) : [pattern];
      const tests = literals
        .filter(({ name }) => name !== "|" && name !== "LogicOp" && name !== "BitOp")
        .map((literal): Expr | null => {
          const [inside] = literal.name === "LiteralPattern" ? partsOf(literal) : [];
          if (!inside) return null;
          const right = this.expressions.expression(inside, depth);
          return { is: "binary", operator: "==", left: value, right, ...placeOf(literal) };
        });
      const [head, ...rest] = tests.flatMap((one) => one ?? []);
      if (!head || tests.includes(null)) return null;
      const test = rest.reduce(
        (left, right): Expr => ({ is: "binary", operator: "||", left, right, from: left.from, to: right.to }),
        head,
      );
      branches.push({ test, body: block });
    }
    return { is: "if", branches, otherwise: [], ...placeOf(node) };
  }
}
