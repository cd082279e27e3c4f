import { describe, expect, test } from "vitest";
import { Work, WorkError } from "@/server/domain/base/work-budget";
import { type Bound, Evaluator, NO_SCOPE } from "./evaluator";
import { isCallOf } from "./literals";
import { sourceOf } from "./program";
import { readPython } from "./python";
import { schemaOf } from "./schemas";
import { readTypeScript } from "./typescript";

const python = (text: string, work = new Work()) => new Evaluator(readPython(text, new Work()), work);
const typescript = (text: string) => new Evaluator(readTypeScript(text, new Work()), new Work());
/** What the value of a name stands for. */
const named = (evaluator: Evaluator, name: string): Bound => ({
  expr: evaluator.value(name) ?? expect.fail(`No ${name}.`),
  scope: NO_SCOPE,
});
const shown = ({ program }: Evaluator, piece: string | Bound) =>
  typeof piece === "string" ? piece : { code: sourceOf(program, piece.expr) };
const piecesOf = (evaluator: Evaluator, name: string) =>
  evaluator.pieces(named(evaluator, name))?.map((piece) => shown(evaluator, piece)) ?? null;

describe("text values", () => {
  test.each([
    ["names", 'a = "x"\nb = a\nc = b'],
    ["pieces of a name", 'a = "x"\nc = f"{a}"'],
    ["sums", 'a = "x"\nc = a + ""'],
    ["stripped texts", 'c = "\\n x ".strip()'],
    ["indented texts", 'c = dedent("""x""")'],
    ["joined lists", 'c = "".join(["x"])'],
    ["entries", 'd = {"k": "x"}\nc = d["k"]'],
    ["items", 'd = ["w", "x"]\nc = d[1]'],
    ["attributes of a class", 'class A:\n    k = "x"\nk = "y"\nc = A.k'],
    [
      "attributes of an object",
      'k = "y"\nclass A:\n    def __init__(self):\n        self.k = "x"\na = A()\nc = a.k',
    ],
    ["attributes of a base class", 'class B:\n    k = "x"\nclass A(B):\n    pass\nc = A().k'],
    ["entries of a class", 'class A:\n    d = {"k": "x"}\nc = A.d["k"]'],
  ])("a text is resolved through %s", (_, text) => {
    const evaluator = python(text);
    expect(evaluator.text(named(evaluator, "c"))).toBe("x");
  });

  test.each([
    ["joined by a comma", 'const c = ["a", "b"].join();', "a,b"],
    ["in a template", "const n = 2; const c = `a${n}`;", "a2"],
    ["with a default value", 'const c = process.env.NAME ?? "x";', "x"],
    ["of a static field", 'class A { static k = "x"; }\nconst c = A.k;', "x"],
  ])("a text is resolved the same in TypeScript: %s", (_, text, expected) => {
    const evaluator = typescript(text);
    expect(evaluator.text(named(evaluator, "c"))).toBe(expected);
  });

  test("unresolved expressions stay code between the parts of a text", () => {
    const evaluator = python('a = f"for {now()}"\nc = f"Write {a}, " + user.name');
    expect(piecesOf(evaluator, "c")).toEqual(["Write for ", { code: "now()" }, ", ", { code: "user.name" }]);
    expect(evaluator.text(named(evaluator, "c"))).toBeNull();
  });

  test("dedent removes indentation, even around values", () => {
    const evaluator = python('c = dedent(f"""\n    a {x}\n      b\n    {y}""")');
    expect(piecesOf(evaluator, "c")).toEqual(["\na ", { code: "x" }, "\n  b\n", { code: "y" }]);
  });

  test("added numbers are not text", () => {
    const evaluator = python("a = 1\nc = a + 2");
    expect(evaluator.pieces(named(evaluator, "c"))).toBeNull();
  });
});

describe("lists and values", () => {
  test("spread and added lists are expanded, and calls stay single items", () => {
    const evaluator = python("a = [1, 2]\nc = [*a, *load()] + a");
    const items = evaluator.items(named(evaluator, "c")) ?? expect.fail();
    expect(items.map((item) => shown(evaluator, item))).toEqual(
      ["1", "2", "load()", "1", "2"].map((code) => ({ code })),
    );
  });

  test("literal values become JSON, and values with dependencies are undefined", () => {
    const evaluator = python('a = {"x": [1, None, True], "y": -2}\nb = {"x": load()}');
    expect(evaluator.json(named(evaluator, "a"))).toEqual({ x: [1, null, true], y: -2 });
    expect(evaluator.json(named(evaluator, "b"))).toBeUndefined();
  });

  test("an attribute isn't confused with a variable of the same name", () => {
    const evaluator = python('model = "x"\nargs = parse()\nc = args.model');
    expect(evaluator.text(named(evaluator, "c"))).toBeNull();
  });
});

describe("objects", () => {
  const made = (evaluator: Evaluator, name: string) =>
    evaluator.made(named(evaluator, name), ({ expr }) => isCallOf(expr, "Agent"));
  const nameOf = (evaluator: Evaluator, name: string) => {
    const found = made(evaluator, name);
    const title = found && evaluator.argument(found, "name");
    return title && evaluator.text(title);
  };

  test.each([
    ["a function with arguments", 'def make(n, t="Sir"):\n    return Agent(name=f"{t} {n}")\nc = make("X")'],
    ["a variable of a function", 'def make():\n    a = Agent(name="Sir X")\n    return a\nc = make()'],
    [
      "nested functions",
      'def f(n):\n    return Agent(name=n)\ndef g(n):\n    return f("Sir " + n)\nc = g("X")',
    ],
    ["a method", 'class F:\n    def make(self, n):\n        return Agent(name=n)\nc = F().make("Sir X")'],
    [
      "a property",
      'class F:\n    @property\n    def it(self):\n        return Agent(name="Sir X")\nc = F().it',
    ],
    ["a record that is spread", 'd = {"name": "Sir X"}\nc = Agent(**d)'],
  ])("an object is resolved through %s, with its arguments filled in", (_, text) => {
    expect(nameOf(python(text), "c")).toBe("Sir X");
  });

  test("an object keeps its identity under other names, and other arguments make another object", () => {
    const evaluator = python(
      "def f(n):\n    return Agent(name=n)\na = f(1)\nb = a\nc = f(1)\nd = Agent()\ne = d",
    );
    const ids = ["a", "b", "c", "d", "e"].map((name) => made(evaluator, name)?.id);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[4]).toBe(ids[3]);
    expect(new Set(ids).size).toBe(3);
  });

  test("an object of a subclass knows the arguments of its super call", () => {
    const evaluator = typescript(
      'class Mine extends Agent { constructor(topic) { super({ name: `About ${topic}` }); } }\nconst c = new Mine("owls");',
    );
    const mine = evaluator.made(named(evaluator, "c"), ({ expr }) => isCallOf(expr, "Mine"));
    const base = mine && evaluator.superCall(mine);
    const name = base && evaluator.argument(base, "name");
    expect(name && evaluator.text(name)).toBe("About owls");
  });

  test("methods with the same name belong to their own class", () => {
    const evaluator = python(
      'class A:\n    def it(self):\n        return Agent(name="A")\nclass B:\n    def it(self):\n        return Agent(name="B")\nc = B().it()',
    );
    expect(nameOf(evaluator, "c")).toBe("B");
  });
});

test("calls know their enclosing function and control structures", () => {
  const { calls } = typescript(`
const main = async () => { for (const x of xs) { if (x) { one(); } } };
class A { run() { while (true) { two(() => three()); } } }
if (require.main === module) four();
`);
  const sites = calls.map(({ call, within, control }) => [
    call.callee.is === "name" ? call.callee.name : "",
    within?.name ?? null,
    control.join(),
  ]);
  expect(sites).toEqual([
    ["one", "main", "for,if"],
    ["two", "run", "while"],
    ["three", "run", "while"],
    ["four", null, ""],
  ]);
});

test.each([
  ["match", "py", "match one():\n    case 1 | 2:\n        two()\n    case _:\n        three()\n"],
  ["try", "py", "try:\n    one()\nexcept E as e:\n    two()\nfinally:\n    three()\n"],
  ["elif", "py", "if one() and not x:\n    pass\nelif two():\n    pass\nelse:\n    three()\n"],
  ["with and for", "py", "with one() as x:\n    for y in two():\n        z += three()\n"],
  ["operations", "py", "x = one() if not two() else -three()\n"],
  ["switch", "ts", "switch (one()) { case 1: two(); break; default: { three(); } }"],
  ["try", "ts", "try { one(); } catch (e) { two(); } finally { three(); }"],
  ["else if", "ts", "if (one()) {} else if (!two()) x; else three();"],
  ["for", "ts", "for (const x of one()) do { two(); } while (three());"],
  ["operations", "ts", "const [x] = one() ? (two() as X) : -three();"],
])("calls are found in every part of %s (%s)", (_, language, text) => {
  const { calls } = language === "py" ? python(text) : typescript(text);
  const names = calls.map(({ call }) => (call.callee.is === "name" ? call.callee.name : ""));
  expect(names.sort()).toEqual(["one", "three", "two"]);
});

test("pydantic and zod schemas give the same JSON schema", () => {
  const pydantic = python(
    'class Item(BaseModel):\n    n: int\nclass Answer(BaseModel):\n    title: str = Field(description="In " + "short")\n    items: list[Item]\n    note: Optional[str] = None\n',
  );
  const zod = typescript(
    'const Item = z.object({ n: z.number().int() });\nconst Answer = z.object({ title: z.string().describe("In " + "short"), items: z.array(Item), note: z.string().optional() });',
  );
  const schema = (evaluator: Evaluator) =>
    schemaOf({ is: "name", name: "Answer", from: 0, to: 0 }, evaluator);
  expect(schema(pydantic)).toMatchObject({ required: ["title", "items"] });
  expect(schema(zod)).toEqual(schema(pydantic));
});

describe("hostile programs", () => {
  test.each([
    ["names", "a = b\nb = a\nc = a"],
    ["texts", 'c = f"{c}{c}"'],
    ["lists", "c = [*c, *c]"],
    ["attributes", "class A(B):\n    x = A().x\nclass B(A):\n    x = B().x\nc = A().x"],
    ["functions", "def f(x=f()):\n    return f(f(x))\nc = f(c)"],
    ["copies", "c = c.a.b[0].c"],
  ])("evaluation terminates for %s that refer to themselves", (_, text) => {
    const evaluator = python(text);
    const value = named(evaluator, "c");
    evaluator.text(value);
    evaluator.items(value);
    expect(evaluator.made(value, ({ expr }) => isCallOf(expr, "Agent"))).toBeNull();
  });

  test.each([
    ["texts", '"x"', (name: string) => `f"{${name}}{${name}}"`],
    ["texts with values", 'f"{x}"', (name: string) => `${name} + ${name}`],
    ["lists", "[x]", (name: string) => `[*${name}, *${name}]`],
  ])("a program whose %s grow exponentially is stopped by the budget", (_, first, next) => {
    const lines = Array.from({ length: 60 }, (_, at) => `s${at + 1} = ${next(`s${at}`)}`);
    const evaluator = python(`s0 = ${first}\n${lines.join("\n")}`);
    const value = named(evaluator, "s60");
    expect(() => [evaluator.text(value), evaluator.items(value)]).toThrow(WorkError);
  });

  test("chains of ten thousand names are left unresolved", () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `s${at + 1} = f"{s${at}}"`);
    const evaluator = python(`s0 = "x"\n${lines.join("\n")}`, new Work(1_000_000));
    expect(evaluator.text(named(evaluator, "s10000"))).toBeNull();
  });
});
