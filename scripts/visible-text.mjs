// Part of lint: extracts the text that people read from the sources, and rejects wording that docs/voice.md replaces.
// `node scripts/visible-text.mjs --list [folder]` prints that text as a table: place, kind, text.
// `--update` rewrites the list of exceptions, which may only shrink.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import ts from "typescript";

const root = path.resolve(import.meta.dirname, "..");
const read = (file) => readFileSync(path.join(root, file), "utf8");
const EXCEPTIONS = "scripts/visible-text.exceptions.tsv";

const LABELS = new Set(["label", "title", "submit", "cancel", "confirm", "aria-label", "noun", "itemName"]);
const HINTS = new Set(["hint", "unsetHint"]);
const OTHER_TEXT = new Set([
  "placeholder",
  "description",
  "summary",
  "about",
  "message",
  "text",
  "unset",
  "unit",
  "alt",
]);
const MAX_WORDS = { label: 4, hint: 14 };

/** Attributes and calls whose strings are no text. */
const CODE_ATTRIBUTES = new Set([
  "className",
  "d",
  "viewBox",
  "style",
  "href",
  "src",
  "key",
  "id",
  "htmlFor",
  "name",
]);
const CODE_CALLS =
  /(^|\.)(prepare|exec|clsx|querySelector(All)?|matchMedia|closest|getPropertyValue|pragma|importScripts|require|sql)$/;

const isProduct = (file) =>
  /^(app|components|server|scripts|packages)\//.test(file) &&
  /\.(tsx?|mjs)$/.test(file) &&
  !/\.test\.tsx?$|(^|\/)testing(\.tsx?$|\/)|(^|\/)(conformance|fixtures|journals)\/|^scripts\/(figures|visible-text|engine|browser|bench|test)\.mjs$|\.d\.ts$/.test(
    file,
  );

/** Files below a folder that hold text for people. */
const tracked = () =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1e8,
  })
    .trim()
    .split("\n");

/**
 * The texts of a source file, with `{…}` for each value put in: `{ file, line, start, end, kind, text }`, where kind is
 * label, hint or text, and start and end enclose the literal.
 */
function textsOf(file, content) {
  const kind = file.endsWith("x")
    ? ts.ScriptKind.TSX
    : file.endsWith("mjs")
      ? ts.ScriptKind.JS
      : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true, kind);
  const found = [];
  const add = (node, text, nodeKind) => {
    const clean = text.replace(/\s+/g, " ").trim();
    if (!/[A-Za-z]{2}/.test(clean)) return;
    const start = node.getStart(source);
    found.push({
      file,
      line: source.getLineAndCharacterOfPosition(start).line + 1,
      start,
      end: node.end,
      kind: nodeKind,
      text: clean,
    });
  };
  const visit = (node) => {
    if (
      ts.isImportDeclaration(node) ||
      ts.isExportDeclaration(node) ||
      ts.isLiteralTypeNode(node) ||
      ts.isTaggedTemplateExpression(node) ||
      (ts.isCallExpression(node) && CODE_CALLS.test(node.expression.getText(source))) ||
      (ts.isJsxAttribute(node) && CODE_ATTRIBUTES.has(node.name.getText(source)))
    )
      return;
    if (ts.isJsxText(node)) add(node, node.text, "text");
    else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      const key = keyOf(node, source);
      if (key !== null && isText(node.text, key)) add(node, node.text, kindOf(key));
    } else if (ts.isTemplateExpression(node)) {
      const text = [node.head.text, ...node.templateSpans.map(({ literal }) => `{…}${literal.text}`)].join(
        "",
      );
      const key = keyOf(node, source);
      if (key !== null && isText(text, key)) add(node, text, kindOf(key));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The property or attribute that a literal is the value of, "" if none; null where it is a name, not a value. */
function keyOf(node, source) {
  let at = node;
  let { parent } = at;
  while (
    ts.isConditionalExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isJsxExpression(parent) ||
    (ts.isBinaryExpression(parent) && /^(\|\||\?\?|&&)$/.test(parent.operatorToken.getText(source)))
  ) {
    if (ts.isConditionalExpression(parent) && parent.condition === at) return null;
    at = parent;
    parent = at.parent;
  }
  if (ts.isPropertyAssignment(parent))
    return parent.name === at ? null : parent.name.getText(source).replace(/["']/g, "");
  if (ts.isJsxAttribute(parent)) return parent.name.getText(source);
  if (ts.isElementAccessExpression(parent) || ts.isCaseClause(parent) || ts.isEnumMember(parent)) return null;
  if (ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText(source))) return null;
  if (ts.isComputedPropertyName(parent) || ts.isLiteralTypeNode(parent)) return null;
  return "";
}

const kindOf = (key) => (LABELS.has(key) ? "label" : HINTS.has(key) ? "hint" : "text");
const isTextKey = (key) => LABELS.has(key) || HINTS.has(key) || OTHER_TEXT.has(key);
/** A phrase, or a word under a key that holds text. */
function isText(text, key) {
  if (CODE_ATTRIBUTES.has(key)) return false;
  if (isTextKey(key)) return /[A-Za-z]{2}/.test(text);
  const words = text.trim().split(/\s+/);
  return (
    words.length > 1 && words.filter((word) => /^[“"(]?[A-Za-z][a-z’'-]*[.,:;?!)”"]*$/.test(word)).length > 1
  );
}

/** Markdown without code. */
function textsOfMarkdown(file, content) {
  const found = [];
  let isCode = false;
  for (const [at, line] of content.split("\n").entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (!isCode && line.trim() !== "")
      found.push({ file, line: at + 1, kind: "text", text: line.replace(/`[^`]*`/g, "`…`").trim() });
  }
  return found;
}

/** Everything that people read, from sources and Markdown. */
function allTexts() {
  return tracked().flatMap((file) => {
    const isMarkdown =
      file.endsWith(".md") && !/^(docs\/voice\.md|changes\/|CHANGELOG\.md|examples\/)/.test(file);
    if (!isProduct(file) && !isMarkdown) return [];
    let content;
    try {
      content = read(file);
    } catch {
      return []; // deleted, but still in the index
    }
    return isMarkdown ? textsOfMarkdown(file, content) : textsOf(file, content);
  });
}

const tableOf = (file) =>
  read(file)
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));

/** What the rules find: `{ rule, file, line, text, advice }`. */
function offenses(texts) {
  const patterns = tableOf("scripts/visible-text.patterns.tsv").map(([pattern, advice]) => ({
    pattern,
    advice,
    regex: new RegExp(pattern, "i"),
  }));
  const replaced = new Map(tableOf("scripts/visible-text.replaced.tsv"));
  return texts.flatMap(({ file, line, kind, text }) => [
    ...patterns
      .filter(({ regex }) => regex.test(text))
      .map(({ pattern, advice }) => ({ rule: pattern, file, line, text, advice })),
    ...(replaced.has(text) ? [{ rule: "replaced", file, line, text, advice: replaced.get(text) }] : []),
    ...(text.split(" ").length > (MAX_WORDS[kind] ?? Number.POSITIVE_INFINITY)
      ? [{ rule: kind, file, line, text, advice: `a ${kind} has at most ${MAX_WORDS[kind]} words` }]
      : []),
  ]);
}

function main() {
  const texts = allTexts();
  const listed = process.argv.indexOf("--list");
  if (listed > 0) {
    const folder = process.argv[listed + 1] ?? "";
    for (const { file, line, kind, text } of texts.filter((one) => one.file.startsWith(folder)))
      console.log([`${file}:${line}`, kind, text].join("\t"));
    return;
  }
  const found = offenses(texts);
  const keyed = ({ rule, file, text }) => [rule, file, text].join("\t");
  const allowed = new Set(tableOf(EXCEPTIONS).map((row) => row.join("\t")));
  const fresh = found.filter((one) => !allowed.has(keyed(one)));
  const current = new Set(found.map(keyed));
  const stale = [...allowed].filter((one) => !current.has(one));
  if (process.argv.includes("--update")) {
    if (fresh.length === 0 || allowed.size === 0)
      writeFileSync(path.join(root, EXCEPTIONS), `# rule, file, text\n${[...current].sort().join("\n")}\n`);
    else process.exitCode = 1;
  } else if (stale.length > 0) {
    console.error(
      `\n${stale.length} exceptions are not needed any more: node scripts/visible-text.mjs --update`,
    );
    process.exitCode = 1;
  }
  process.stdout.write(`  Visible texts: ${texts.length}, exceptions to docs/voice.md: ${current.size}\n`);
  if (fresh.length === 0) return;
  process.exitCode = 1;
  console.error("\nWording that docs/voice.md replaces:");
  for (const { file, line, rule, text, advice } of fresh)
    console.error(`${file}:${line} ${rule}: ${text}\n    ${advice}`);
}

main();
