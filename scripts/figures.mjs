// Part of lint: prints the size and complexity of the product, and rejects names that have a standard term
// (docs/voice.md). Names of stored data (properties, strings) are not checked.
// `node scripts/figures.mjs --list [folder]` lists functions with too many lines, branches or parameters.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import ts from "typescript";

const root = path.resolve(import.meta.dirname, "..");
const MAX_LINES = 80;
const MAX_COMPLEXITY = 15;
const MAX_PARAMETERS = 4;

/** Words not to use in names, with the standard term. */
const DISCOURAGED = {
  words: "label, text, message",
  fault: "error, diagnostic",
  faults: "errors, diagnostics",
  trouble: "error, diagnostic",
  troubles: "errors, diagnostics",
  amiss: "error",
  look: "view, variant",
  looks: "views, variants",
  ways: "routes, branches",
  said: "output, reply, message",
  told: "notified, reported",
  teller: "publisher, formatter",
  stretch: "segment",
  stretches: "segments",
  strangers: "untrusted",
  elsewhere: "remote",
  parted: "divergence",
  twin: "baseline",
  twins: "baselines",
  purse: "spendingCap",
  beginnings: "cache",
  breather: "yield",
};
const DISCOURAGED_PAIRS = {
  "at work": "running",
  "carry out": "execute",
  "take up": "start, resume",
  "under way": "running",
};
/** Names from other systems and formats, and legitimate uses. */
const ALLOWED = new Set([
  "AZURE_WIRE",
  "looksLikeJson",
  "looksLikeWorkflow",
  "FEW_WORDS",
  "WORDS_PER_CHUNK",
  "isLookUp",
  "lookUp",
]);

const isTest = (file) =>
  /\.test\.tsx?$|(^|\/)testing(\.tsx?$|\/)|^e2e\/|^bench\/|(^|\/)(conformance|fixtures|journals)\//.test(
    file,
  );
const isGenerated = (file) => /(^|\/)next-env\.d\.ts$/.test(file);

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1e8,
})
  .trim()
  .split("\n")
  .filter((file) => /\.(tsx?|css)$/.test(file) && !isGenerated(file));

const figures = { lines: 0, files: 0, testLines: 0, long: 0, complex: 0, wide: 0, present: 0, spreads: 0 };
const folders = new Map();
const rejected = [];
const outliers = [];

for (const file of tracked) {
  let text;
  try {
    text = readFileSync(path.join(root, file), "utf8");
  } catch {
    continue; // deleted, but still in the index
  }
  const lines = text.split("\n").length - 1;
  checkName(path.basename(file).split(".")[0], file);
  folders.set(path.dirname(file), (folders.get(path.dirname(file)) ?? 0) + 1);
  if (isTest(file)) {
    figures.testLines += lines;
    continue;
  }
  figures.lines += lines;
  figures.files += 1;
  if (!file.endsWith(".css")) measure(file, text);
}

function checkName(name, where) {
  if (ALLOWED.has(name)) return;
  const parts = name
    .replaceAll("-", "_")
    .split(/_|(?<=[a-z0-9])(?=[A-Z])/)
    .map((part) => part.toLowerCase());
  for (const part of parts)
    if (part in DISCOURAGED) rejected.push(`${where}: ${name} (${part}: ${DISCOURAGED[part]})`);
  for (const [pair, instead] of Object.entries(DISCOURAGED_PAIRS))
    if (` ${parts.join(" ")} `.includes(` ${pair} `)) rejected.push(`${where}: ${name} (${instead})`);
}

function measure(file, text) {
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const length = lineAt(node.end) - lineAt(node.getStart(source)) + 1;
      const paths = complexity(node.body);
      const width = node.parameters.length;
      if (length > MAX_LINES) figures.long += 1;
      if (paths > MAX_COMPLEXITY) figures.complex += 1;
      if (width > MAX_PARAMETERS) figures.wide += 1;
      if (length > MAX_LINES || paths > MAX_COMPLEXITY || width > MAX_PARAMETERS)
        outliers.push(
          `${file}:${lineAt(node.getStart(source)) + 1} ${node.name?.getText(source) ?? "(anonymous)"}: ${length} lines, complexity ${paths}, ${width} parameters`,
        );
    }
    if (node.name && ts.isIdentifier(node.name) && isDeclared(node))
      checkName(node.name.text, `${file}:${lineAt(node.name.getStart(source)) + 1}`);
    if (ts.isCallExpression(node) && node.expression.getText(source) === "present") figures.present += 1;
    if (ts.isSpreadAssignment(node) && isConditional(node.expression)) figures.spreads += 1;
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** Whether the node names a variable, function or type, not a field of data. */
function isDeclared(node) {
  return (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    (ts.isMethodDeclaration(node) && ts.isClassDeclaration(node.parent))
  );
}

function isConditional(node) {
  if (ts.isParenthesizedExpression(node)) return isConditional(node.expression);
  return ts.isConditionalExpression(node);
}

/** Cyclomatic complexity; nested functions are counted separately. */
function complexity(body) {
  let paths = 1;
  const visit = (node) => {
    if (ts.isFunctionLike(node)) return;
    if (branches(node)) paths += 1;
    ts.forEachChild(node, visit);
  };
  visit(body);
  return paths;
}

function branches(node) {
  switch (node.kind) {
    case ts.SyntaxKind.IfStatement:
    case ts.SyntaxKind.ConditionalExpression:
    case ts.SyntaxKind.ForStatement:
    case ts.SyntaxKind.ForInStatement:
    case ts.SyntaxKind.ForOfStatement:
    case ts.SyntaxKind.WhileStatement:
    case ts.SyntaxKind.DoStatement:
    case ts.SyntaxKind.CaseClause:
    case ts.SyntaxKind.CatchClause:
      return true;
    case ts.SyntaxKind.BinaryExpression:
      return [
        ts.SyntaxKind.AmpersandAmpersandToken,
        ts.SyntaxKind.BarBarToken,
        ts.SyntaxKind.QuestionQuestionToken,
      ].includes(node.operatorToken.kind);
    default:
      return false;
  }
}

const [fullest, count] = [...folders].sort((a, b) => b[1] - a[1])[0];
const thousands = (value) => value.toLocaleString("en-US");
const rows = [
  ["Product lines / files", `${thousands(figures.lines)} / ${thousands(figures.files)}`],
  ["Test lines", thousands(figures.testLines)],
  ["Most files in one folder", `${count} (${fullest})`],
  [
    `Functions over ${MAX_LINES} lines / complexity over ${MAX_COMPLEXITY} / over ${MAX_PARAMETERS} parameters`,
    `${figures.long} / ${figures.complex} / ${figures.wide}`,
  ],
  ["present() / conditional spreads", `${figures.present} / ${figures.spreads}`],
];
const asked = process.argv.indexOf("--list");
if (asked > 0) {
  const folder = process.argv[asked + 1] ?? "";
  for (const outlier of outliers.filter((line) => line.startsWith(folder)).sort()) console.log(outlier);
}
for (const [name, value] of rows) process.stdout.write(`  ${name}: ${value}\n`);
if (rejected.length > 0) {
  console.error(`\nNames with a standard term:\n${rejected.join("\n")}`);
  process.exit(1);
}
