import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/python";
import type { Work } from "@/server/domain/base/work-budget";
import {
  type BlockKind,
  type Branch,
  type Expr,
  type Field,
  MAX_NESTING,
  type Program,
  type Statement,
  type Taken,
} from "./program";
import { Expressions } from "./python-expressions";
import { other, parseSource, partsOf, placeOf, type Source, textIn } from "./syntax";

/** Parses Python. What can't be parsed is kept as text. Throws ProgramError if there is too much. */
export function readPython(text: string, work: Work): Program {
  const { source, tree, syntaxErrors } = parseSource(text, parser, work);
  return { text, body: new Reader(source).block(tree.topNode, 0), syntaxErrors };
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
    if (depth > MAX_NESTING) return [];
    const parts = partsOf(node);
    const [first] = parts;
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
      case "UpdateStatement":
        return parts
          .slice(2)
          .map((value) => ({ is: "do", value: this.expressions.expression(value, depth), ...place }));
      case "ExpressionStatement":
        return first ? [{ is: "do", value: this.expressions.expression(first, depth), ...place }] : [];
      case "IfStatement":
        return [this.choiceOf(node, depth)];
      case "MatchStatement":
        return [this.blockOf("if", node, depth)];
      case "WhileStatement":
        return [this.blockOf("while", node, depth)];
      case "ForStatement":
        return [this.blockOf("for", node, depth)];
      case "WithStatement":
      case "TryStatement":
        return [this.blockOf("other", node, depth)];
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
    }
    return [];
  }

  private choiceOf(node: SyntaxNode, depth: number): Statement {
    const branches: Branch[] = [];
    let test: Expr | null = null;
    for (const part of partsOf(node)) {
      if (part.name === "Body") branches.push({ test, body: this.block(part, depth) });
      test = /^(Body|if|elif|else)$/.test(part.name) ? null : this.expressions.expression(part, depth);
    }
    return {
      is: "block",
      kind: "if",
      head: branches.flatMap((branch) => branch.test ?? []),
      body: branches.flatMap(({ body }) => body),
      branches,
      ...placeOf(node),
    };
  }

  /** A statement with blocks: its branches together, and its expressions. */
  private blockOf(kind: BlockKind, node: SyntaxNode, depth: number): Statement {
    const parts = partsOf(node).flatMap((part) =>
      part.name === "MatchBody" ? partsOf(part).flatMap((clause) => partsOf(clause)) : [part],
    );
    return {
      is: "block",
      kind,
      head: parts
        .filter(({ name }) => /Expression$|^VariableName$/.test(name))
        .map((part) => this.expressions.expression(part, depth)),
      body: parts.filter(({ name }) => name === "Body").flatMap((body) => this.block(body, depth)),
      ...placeOf(node),
    };
  }

  private importOf(parts: readonly SyntaxNode[], node: SyntaxNode): Statement {
    const at = parts.findIndex(({ name }) => name === "import");
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
    return { is: "import", names, ...placeOf(node) };
  }

  private assigned(node: SyntaxNode, parts: readonly SyntaxNode[], depth: number): Statement[] {
    const place = placeOf(node);
    const signs = parts.flatMap(({ name }, at) => (name === "AssignOp" ? [at] : []));
    const [first] = parts;
    const at = signs.at(-1);
    if (!first || at === undefined) return [];
    const values = parts.slice(at + 1).filter(({ name }) => name !== ",");
    const [value] = values;
    const targets = parts
      .slice(0, at)
      .filter(({ name }) => name !== "TypeDef" && name !== "AssignOp" && name !== ",");
    if (!value || values.length > 1) return [];
    const isList = parts.slice(0, at).some(({ name }) => name === ",") || first.name === "TupleExpression";
    const read = this.expressions.expression(value, depth);
    if (isList) return [{ is: "do", value: read, ...place }];
    return targets.map((target) => ({
      is: "assign",
      target: this.expressions.expression(target, depth),
      value: read,
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
    const place = placeOf(node);
    const title = name ? textIn(this.source, name) : "";
    if (inner.name === "FunctionDefinition")
      return {
        is: "function",
        name: title,
        params: this.expressions.params(own, depth),
        body: block,
        decorators,
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
}
