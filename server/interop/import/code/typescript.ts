import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/javascript";
import type { Work } from "@/server/domain/base/work-budget";
import { type Expr, MAX_NESTING, type Program, type Statement, type Taken } from "./program";
import { parseSource, partsOf, placeOf, type Source, textIn } from "./syntax";

const typescript = parser.configure({ dialect: "ts" });

import { Expressions } from "./typescript-expressions";
/** Reads TypeScript or JavaScript. What cannot be understood is left as text. Throws ProgramError where there is too much. */
export function readTypeScript(text: string, work: Work): Program {
  const { source, tree, faults } = parseSource(text, typescript, work);
  return { language: "typescript", text, body: new Reader(source).block(tree.topNode, 0), faults };
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
    if (depth > MAX_NESTING) return [{ is: "other", ...place }];
    const [first] = parts;
    switch (node.name) {
      case "ImportDeclaration":
        return [this.importOf(node)];
      case "ExportDeclaration": {
        const inner = parts.find(({ name }) => /Declaration$/.test(name));
        if (inner) return this.statement(inner, depth + 1);
        const value = parts.find(({ name }) => /Expression$|^VariableName$/.test(name));
        return value
          ? [{ is: "do", value: this.expressions.expression(value, depth), ...place }]
          : [{ is: "nothing", ...place }];
      }
      case "VariableDeclaration":
        return this.declared(parts, depth);
      case "ExpressionStatement":
        return first ? [this.expressionStatement(first, depth)] : [];
      case "IfStatement":
        return [this.ifOf(node, depth)];
      case "WhileStatement":
      case "DoStatement": {
        const test = parts.find(({ name }) => name === "ParenthesizedExpression");
        const body = parts.filter((part) => part !== test && /Statement$|^Block$/.test(part.name))[0];
        if (!test || !body) break;
        const isAfter = node.name === "DoStatement";
        return [
          {
            is: "while",
            test: this.expressions.expression(test, depth),
            body: this.body(body, depth),
            isAfter,
            ...place,
          },
        ];
      }
      case "ForStatement": {
        const spec = parts.find(({ name }) => /^For\w*Spec$/.test(name));
        const body = parts.at(-1);
        if (!spec || !body || body === spec) break;
        const inner = partsOf(spec);
        const name = inner.find(({ name }) => name === "VariableDefinition");
        const list =
          spec.name === "ForOfSpec" ? inner.filter((part) => /^[A-Z]/.test(part.name)).at(-1) : undefined;
        return [
          {
            is: "for",
            name: name ? textIn(source, name) : null,
            of: list && list !== name ? this.expressions.expression(list, depth) : null,
            body: this.body(body, depth),
            ...place,
          },
        ];
      }
      case "ReturnStatement": {
        const value = parts.find((part) => part.name !== "return" && part.name !== ";");
        return [{ is: "return", value: value ? this.expressions.expression(value, depth) : null, ...place }];
      }
      case "ThrowStatement":
        return [{ is: "throw", ...place }];
      case "BreakStatement":
        return [{ is: "break", ...place }];
      case "ContinueStatement":
        return [{ is: "continue", ...place }];
      case "Block":
        return [{ is: "block", head: [], body: this.block(node, depth), ...place }];
      case "TryStatement": {
        const body = parts.find(({ name }) => name === "Block");
        const rest = parts.filter(({ name }) => name === "CatchClause" || name === "FinallyClause");
        return [
          ...rest.map((part): Statement => ({ is: "other", ...placeOf(part) })),
          ...(body ? this.block(body, depth) : []),
        ];
      }
      case "SwitchStatement":
        return [this.switchOf(node, depth) ?? { is: "other", ...place }];
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
            doc: "",
            ...place,
          },
        ];
      }
      case "ClassDeclaration":
        return [this.classOf(node, depth)];
      case "TypeAliasDeclaration":
      case "InterfaceDeclaration":
      case "EnumDeclaration":
      case "AmbientDeclaration":
      case "EmptyStatement":
      case "{":
      case "}":
      case ";":
        return [{ is: "nothing", ...place }];
    }
    return [{ is: "other", ...place }];
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
      doc: "",
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
          doc: "",
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
        operator: "=",
        type: null,
        isNew: true,
        ...place,
      },
    ];
  }

  /** What stands behind `if`, `while`, `for`: a block or one statement. */
  private body(node: SyntaxNode, depth: number): Statement[] {
    return node.name === "Block" ? this.block(node, depth) : this.statement(node, depth + 1);
  }

  private importOf(node: SyntaxNode): Statement {
    const parts = partsOf(node);
    const from = parts.find(({ name }) => name === "String");
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
    return { is: "import", module: from ? this.expressions.string(from) : "", names, ...placeOf(node) };
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
          operator: "=",
          type: null,
          isNew: true,
          ...place,
        });
      else if (part.name === "ObjectPattern")
        statements.push({ is: "take", names: this.expressions.taken(part), value: read, ...place });
      else {
        const names = partsOf(part).filter(({ name }) => name === "VariableDefinition");
        const taken = names.map((one, key) => ({ key: String(key), name: textIn(this.source, one) }));
        statements.push({ is: "take", names: taken, value: read, ...place });
      }
    }
    return statements;
  }

  private expressionStatement(node: SyntaxNode, depth: number): Statement {
    const place = placeOf(node);
    const parts = partsOf(node);
    const [target, sign, value] = parts;
    if (node.name === "AssignmentExpression" && target && sign && value) {
      const operator = textIn(this.source, sign);
      if (operator !== "=" && operator !== "+=" && operator !== "-=") return { is: "other", ...place };
      const read = {
        target: this.expressions.expression(target, depth),
        value: this.expressions.expression(value, depth),
      };
      return { is: "assign", ...read, operator, type: null, isNew: false, ...place };
    }
    if (node.name === "PostfixExpression" && target && sign && /^(\+\+|--)$/.test(textIn(this.source, sign)))
      return {
        is: "assign",
        target: this.expressions.expression(target, depth),
        value: { is: "number", value: 1, ...placeOf(sign) },
        operator: textIn(this.source, sign) === "++" ? "+=" : "-=",
        type: null,
        isNew: false,
        ...place,
      };
    return { is: "do", value: this.expressions.expression(node, depth), ...place };
  }

  /** A chain of `else if` is as long as it is: no recursion. */
  private ifOf(node: SyntaxNode, depth: number): Statement {
    const branches: { test: Expr; body: Statement[] }[] = [];
    let otherwise: Statement[] = [];
    let current: SyntaxNode | undefined = node;
    while (current) {
      const parts = partsOf(current);
      const at = parts.findIndex(({ name }) => name === "else");
      const test = parts.find(({ name }) => name === "ParenthesizedExpression");
      const body = (at < 0 ? parts : parts.slice(0, at)).at(-1);
      if (test)
        branches.push({
          test: this.expressions.expression(test, depth),
          body: body && body !== test ? this.body(body, depth) : [],
        });
      const rest: SyntaxNode | undefined = at < 0 ? undefined : parts[at + 1];
      current = rest?.name === "IfStatement" ? rest : undefined;
      if (rest && !current) otherwise = this.body(rest, depth);
    }
    return { is: "if", branches, otherwise, ...placeOf(node) };
  }

  /** As `if`, where no case falls through into the next. */
  private switchOf(node: SyntaxNode, depth: number): Statement | null {
    const parts = partsOf(node);
    const on = parts.find(({ name }) => name === "ParenthesizedExpression");
    const cases = parts.find(({ name }) => name === "SwitchBody");
    if (!on || !cases) return null;
    const value = this.expressions.expression(on, depth);
    const branches: { test: Expr; body: Statement[] }[] = [];
    let otherwise: Statement[] = [];
    let tests: Expr[] = [];
    let target: "branch" | "default" | null = null;
    let body: Statement[] = [];
    const close = (): boolean => {
      if (target === null || (body.length === 0 && target === "branch" && tests.length > 0)) return true;
      const last = body.at(-1);
      const ends = last?.is === "break" || last?.is === "return" || last?.is === "throw";
      if (last?.is === "break") body = body.slice(0, -1);
      if (target === "default") otherwise = body;
      else {
        const test = tests.reduce((left, right) => ({
          is: "binary",
          operator: "||",
          left,
          right,
          from: left.from,
          to: right.to,
        }));
        branches.push({ test, body });
      }
      tests = [];
      body = [];
      target = null;
      return ends;
    };
    for (const part of partsOf(cases)) {
      if (part.name === "CaseLabel" || part.name === "DefaultLabel") {
        if (!close()) return null;
        if (part.name === "DefaultLabel") {
          if (tests.length > 0) return null;
          target = "default";
          continue;
        }
        if (target === "default") return null;
        target = "branch";
        const label = partsOf(part).find(({ name }) => name !== "case" && name !== ":");
        if (!label) return null;
        const right = this.expressions.expression(label, depth);
        tests.push({ is: "binary", operator: "==", left: value, right, ...placeOf(part) });
      } else if (part.name === "Block") body.push(...this.block(part, depth));
      else if (/^[A-Z]/.test(part.name)) body.push(...this.statement(part, depth + 1));
    }
    if (body.at(-1)?.is !== "break") body.push({ is: "break", from: node.to, to: node.to });
    return close() && tests.length === 0 ? { is: "if", branches, otherwise, ...placeOf(node) } : null;
  }
}
