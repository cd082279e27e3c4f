import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/javascript";
import type { Work } from "@/server/domain/base/work-budget";
import { type BlockKind, type Expr, MAX_NESTING, type Program, type Statement, type Taken } from "./program";
import { parseSource, partsOf, placeOf, type Source, textIn } from "./syntax";

const typescript = parser.configure({ dialect: "ts" });

import { Expressions } from "./typescript-expressions";
/** Parses TypeScript or JavaScript. What can't be parsed is kept as text. Throws ProgramError if there is too much. */
export function readTypeScript(text: string, work: Work): Program {
  const { source, tree, syntaxErrors } = parseSource(text, typescript, work);
  return { text, body: new Reader(source).block(tree.topNode, 0), syntaxErrors };
}

class Reader {
  private readonly expressions: Expressions;

  constructor(private readonly source: Source) {
    this.expressions = new Expressions(source, (node, depth) => this.block(node, depth));
  }

  block(node: SyntaxNode, depth: number): Statement[] {
    return partsOf(node).flatMap((part) => this.statement(part, depth + 1));
  }

  /** A statement, or the several that one may declare. */
  private statement(node: SyntaxNode, depth: number): Statement[] {
    const { source } = this;
    source.work.spend(1);
    const place = placeOf(node);
    const parts = partsOf(node);
    if (depth > MAX_NESTING) return [];
    const [first] = parts;
    switch (node.name) {
      case "ImportDeclaration":
        return [this.importOf(node)];
      case "ExportDeclaration": {
        const inner = parts.find(({ name }) => /Declaration$/.test(name));
        if (inner) return this.statement(inner, depth + 1);
        const value = parts.find(({ name }) => /Expression$|^VariableName$/.test(name));
        return value ? [{ is: "do", value: this.expressions.expression(value, depth), ...place }] : [];
      }
      case "VariableDeclaration":
        return this.declared(parts, depth);
      case "ExpressionStatement":
        return first ? [this.expressionStatement(first, depth)] : [];
      case "IfStatement":
      case "SwitchStatement":
        return [this.blockOf("if", node, depth)];
      case "WhileStatement":
      case "DoStatement":
        return [this.blockOf("while", node, depth)];
      case "ForStatement":
        return [this.blockOf("for", node, depth)];
      case "Block":
      case "TryStatement":
        return [this.blockOf("other", node, depth)];
      case "ReturnStatement": {
        const value = parts.find((part) => part.name !== "return" && part.name !== ";");
        return [{ is: "return", value: value ? this.expressions.expression(value, depth) : null, ...place }];
      }
      case "FunctionDeclaration": {
        const name = parts.find((part) => part.name === "VariableDefinition");
        const { params, body } = this.expressions.functionOf(node, depth);
        return [
          {
            is: "function",
            name: name ? textIn(source, name) : "",
            params,
            body,
            decorators: [],
            ...place,
          },
        ];
      }
      case "ClassDeclaration":
        return [this.classOf(node, depth)];
    }
    return [];
  }

  /** A statement with blocks: its branches together, and its expressions. */
  private blockOf(kind: BlockKind, node: SyntaxNode, depth: number): Statement {
    const head: Expr[] = [];
    const body: Statement[] = [];
    // A chain of `else if` can be arbitrarily long: no recursion.
    const stack = partsOf(node).reverse();
    for (let part = stack.pop(); part; part = stack.pop())
      if (part.name === "IfStatement" && kind === "if") stack.push(...partsOf(part).reverse());
      else if (
        /^(ForOfSpec|ForInSpec|ForSpec|CaseLabel|CatchClause|FinallyClause|SwitchBody)$/.test(part.name)
      )
        stack.push(...partsOf(part).reverse());
      else if (/Expression$|^VariableName$/.test(part.name))
        head.push(this.expressions.expression(part, depth));
      else if (part.name === "Block") body.push(...this.block(part, depth));
      else if (/Statement$|Declaration$/.test(part.name)) body.push(...this.statement(part, depth + 1));
    return { is: "block", kind, head, body, ...placeOf(node) };
  }

  /** A class with its methods, and its properties that have a value. */
  private classOf(node: SyntaxNode, depth: number): Statement {
    const parts = partsOf(node);
    const name = parts.find((part) => part.name === "VariableDefinition");
    const at = parts.findIndex((part) => part.name === "extends");
    const base = at < 0 ? undefined : parts[at + 1];
    const members = parts.find((part) => part.name === "ClassBody");
    return {
      is: "class",
      name: name ? textIn(this.source, name) : "",
      bases: base ? [this.expressions.expression(base, depth)] : [],
      fields: [],
      body: members ? partsOf(members).flatMap((member) => this.member(member, depth + 1)) : [],
      ...placeOf(node),
    };
  }

  private member(node: SyntaxNode, depth: number): Statement[] {
    this.source.work.spend(1);
    const parts = partsOf(node);
    const place = placeOf(node);
    const key = parts.find((part) => /^(Private)?PropertyDefinition$/.test(part.name));
    if (!key || depth > MAX_NESTING) return [];
    const name = textIn(this.source, key);
    if (node.name === "MethodDeclaration")
      return [
        {
          is: "function",
          name,
          ...this.expressions.functionOf(node, depth),
          decorators: [],
          ...place,
        },
      ];
    const at = parts.findIndex((part) => part.name === "Equals");
    const value = at < 0 ? undefined : parts[at + 1];
    if (node.name !== "PropertyDeclaration" || !value) return [];
    return [
      {
        is: "assign",
        target: { is: "name", name, ...placeOf(key) },
        value: this.expressions.expression(value, depth),
        ...place,
      },
    ];
  }

  private importOf(node: SyntaxNode): Statement {
    const parts = partsOf(node);
    const group = parts.find(({ name }) => name === "ImportGroup");
    const names: Taken[] = [];
    let key: string | null = null;
    for (const part of group ? partsOf(group) : parts) {
      const text = textIn(this.source, part);
      if (part.name === "VariableName" || part.name === "VariableDefinition") {
        names.push({ key: key ?? text, name: text });
        key = null;
        if (part.name === "VariableName") key = text;
      }
    }
    return { is: "import", names, ...placeOf(node) };
  }

  private declared(parts: readonly SyntaxNode[], depth: number): Statement[] {
    const statements: Statement[] = [];
    for (const [at, part] of parts.entries()) {
      if (part.name !== "VariableDefinition" && part.name !== "ObjectPattern" && part.name !== "ArrayPattern")
        continue;
      let next = at + 1;
      if (parts[next]?.name === "TypeAnnotation") next++;
      const value = parts[next]?.name === "Equals" ? parts[next + 1] : undefined;
      if (!value) continue;
      const place = { from: part.from, to: value.to };
      const read = this.expressions.expression(value, depth);
      if (part.name === "VariableDefinition")
        statements.push({
          is: "assign",
          target: { is: "name", name: textIn(this.source, part), ...placeOf(part) },
          value: read,
          ...place,
        });
      else statements.push({ is: "do", value: read, ...place });
    }
    return statements;
  }

  private expressionStatement(node: SyntaxNode, depth: number): Statement {
    const place = placeOf(node);
    const [target, sign, value] = partsOf(node);
    if (node.name !== "AssignmentExpression" || !target || !sign || !value)
      return { is: "do", value: this.expressions.expression(node, depth), ...place };
    const read = this.expressions.expression(value, depth);
    return textIn(this.source, sign) === "="
      ? { is: "assign", target: this.expressions.expression(target, depth), value: read, ...place }
      : { is: "do", value: read, ...place };
  }
}
