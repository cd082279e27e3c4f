import { analyse } from "scslre";
import ts from "typescript";
import { expect, test } from "vitest";
import { filesUnder, parsed } from "@/server/testing/sources";

// A pattern that takes the square of a text's length, or worse, lets a file or a model's answer stop the server. What one
// character shows is found by scslre; what takes several (`<a>` repeated, for `/<a>.*<\/a>/`) by growing texts in the
// tests of those who read them.

/** Patterns that are made of parts, with what keeps each of them small. */
const MADE: Readonly<Record<string, string>> = {
  "components/forms/fields/cel-rows.ts": "reads one condition of a form, written by a person in this browser",
  "server/conformance/stage.ts": "a test's stage: the name of a role",
  "server/domain/regex/syntax.ts": "the name of a Unicode property, matched against one character",
  "server/domain/text/pattern-validation.ts": "is made to see whether it can be, and never matched",
  "server/llm/capabilities/adapt.ts": "a field's name between two characters",
  "server/llm/limits/prices.ts": "the bundled table's patterns of model names",
  "server/llm/tool-calls/text-calls.ts":
    "markers: matched against 400 characters or one line, each repeat bounded or behind a sign",
  "server/llm/tool-calls/text-protocol.ts": "blanks behind a line break, which they cannot be",
  "server/runner/bisect/names.ts": "names that stand for themselves",
  "server/secrets/redact.ts": "keys that stand for themselves",
  "scripts/test.mjs": "the colors of a terminal",
  "scripts/visible-text.mjs": "patterns of this repository, in lint",
};

interface Part {
  type: string;
  max?: unknown;
  raw: string;
  element?: Part;
  elements?: Part[];
  alternatives?: Part[];
}

/** The first repeat without a bound inside of another one. */
function nested(
  { type, max, raw, element, elements = [], alternatives = [] }: Part,
  isInside = false,
): string | null {
  const isUnbounded = type === "Quantifier" && max === Number.POSITIVE_INFINITY;
  if (isUnbounded && isInside) return raw;
  for (const part of [...(element ? [element] : []), ...elements, ...alternatives]) {
    const found = nested(part, isInside || isUnbounded);
    if (found) return found;
  }
  return null;
}

/** Why a pattern may take long, null where it does not. */
function regexError(source: string, flags: string): string | null {
  const { parsed, reports } = analyse({ source, flags });
  const inner = nested(parsed.pattern);
  if (inner !== null) return `${inner} is repeated without a bound inside of a repeat without a bound`;
  const [report] = reports;
  return report ? `takes the square of many ${JSON.stringify(report.character.pick)}` : null;
}

const isTest = (file: string) => /\.test\.tsx?$|(^|\/)testing(\/|\.ts$)/.test(file);
const files = [
  ...["app", "components", "server", "db", "scripts", "packages"].flatMap(filesUnder),
  "proxy.ts",
  "instrumentation.ts",
]
  .filter((file) => !isTest(file))
  .map(parsed);

/** All patterns of the product: null where one is made of parts. */
function* patterns(): Generator<{
  file: string;
  at: string;
  literal: { source: string; flags: string } | null;
}> {
  for (const { file, tree } of files) {
    const nodes: ts.Node[] = [tree];
    for (let node = nodes.pop(); node; node = nodes.pop()) {
      ts.forEachChild(node, (child) => void nodes.push(child));
      const at = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        yield { file, at, literal: { source: node.text.slice(1, end), flags: node.text.slice(end + 1) } };
      }
      const maker = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression : undefined;
      if (maker?.getText(tree) === "RegExp") yield { file, at, literal: null };
    }
  }
}

test("no regex in the code takes quadratic time", () => {
  const found = [...patterns()].flatMap(({ at, literal }) => {
    const why = literal && regexError(literal.source, literal.flags);
    return why ? [`${at} /${literal.source}/${literal.flags} ${why}`] : [];
  });
  expect(found).toEqual([]);
});

test("every regex that is built from parts is listed with a reason", () => {
  const made = new Set([...patterns()].flatMap(({ file, literal }) => (literal ? [] : [file])));
  expect([...made].sort()).toEqual(Object.keys(MADE).sort());
});

test.each([
  [String.raw`\s*(?:x)?\s*$`, ""],
  [String.raw`\/+$`, ""],
  [String.raw`^\s*import`, "m"],
  [String.raw`^(\s|\/\*[\s\S]*?\*\/)*[{[]`, ""],
  [String.raw`(?:a+)+b`, ""],
])("the quadratic regex /%s/%s is found", (source, flags) => {
  expect(regexError(source, flags)).not.toBeNull();
});
