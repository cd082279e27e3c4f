import { isList } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import { compileRegex, PatternError, type Regex } from "../regex/regex";
import { Work } from "../regex/work";
import type { Check, Node, Resource, Run } from "./check";
import { endless } from "./endless";
import { ANNOTATIONS, KEYWORDS, NAMED_SCHEMAS_IN, READ_BY, SCHEMA_IN, SCHEMAS_IN } from "./keywords";
import { type Making, unknown } from "./keywords/keyword";
import { canonical, isObject } from "./values";

/** A part of a schema that is not checked. `path`: the keys that lead to it, from the outside in. */
export interface Unchecked {
  path: string[];
  message: string;
}
export interface Compiled {
  root: Node;
  unchecked: Unchecked[];
}

export const SCHEMA_LIMITS = {
  /** Schemas inside of a schema. */
  schemas: 2_000,
  /** Values, lists and objects in it. With the other limits, compiling takes below 50 ms (bench/freezing.ts). */
  parts: 40_000,
  chars: 1_000_000,
  depth: 100,
  /** States of the automata of all patterns together. */
  patterns: 50_000,
} as const;
/** The base cost of a pattern, added to its size. */
const PATTERN_ITSELF = 50;
const MAX_UNCHECKED = 100;
const HOME = "schema:///root";
const DIALECT = /^https?:\/\/json-schema\.org\/draft(?:\/(2020-12|2019-09)|-0([467]))\/schema#?$/;

/** Compiles a schema for validation. Never throws: what can't be checked is reported and rejects nothing. */
export function compile(schema: unknown): Compiled {
  const tooLarge = sizeError(schema);
  if (tooLarge) return { root: anything(), unchecked: [{ path: [], message: tooLarge }] };
  return new Compiler(schema).run();
}

/** Why a schema is not read at all, or null. Without recursion: it may be nested too deep. */
function sizeError(schema: unknown): string | null {
  const open: [unknown, number][] = [[schema, 0]];
  let parts = 0;
  let chars = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === "string") chars += value.length;
    if (++parts > SCHEMA_LIMITS.parts || chars > SCHEMA_LIMITS.chars)
      return "it is too large, so its contents are not checked";
    if (value === null || typeof value !== "object") continue;
    if (depth >= SCHEMA_LIMITS.depth) return "it is nested too deeply, so its contents are not checked";
    if (isList(value)) for (const item of value) open.push([item, depth + 1]);
    else
      for (const [key, inner] of Object.entries(value)) {
        chars += key.length;
        open.push([inner, depth + 1]);
      }
  }
  return null;
}

/** The schemas inside a schema, by its keywords. */
const schemasIn = (schema: Record<string, unknown>): unknown[] =>
  Object.entries(schema).flatMap(([word, value]) => {
    if (NAMED_SCHEMAS_IN.has(word) && isObject(value)) return Object.values(value);
    if (SCHEMAS_IN.has(word) && Array.isArray(value)) return value as unknown[];
    return SCHEMA_IN.has(word) ? [value] : [];
  });

const nowhere: Resource = { address: HOME, root: true, anchors: new Map(), dynamicAnchors: new Map() };
const emptyNode = (resource: Resource): Node => ({
  resource,
  checks: [],
  asksForRest: false,
  inPlace: [],
  isEndless: false,
  properties: new Map(),
  items: null,
  always: [],
  standard: undefined,
});
const anything = (): Node => ({ ...emptyNode(nowhere), checks: [() => "unknown"] });

/** The place of a schema, for messages about it. */
interface Standing {
  schema: Record<string, unknown>;
  path: string[];
}

class Compiler {
  private readonly unchecked: Unchecked[] = [];
  private readonly resources = new Map<string, Resource>();
  private readonly resourceOf = new Map<object, Resource>();
  private readonly nodes = new Map<object, Node>();
  private readonly waiting: { node: Node; standing: Standing }[] = [];
  private readonly regexes = new Map<string, Regex | PatternError>();
  private patternSize = 0;
  /** Before draft 2019-09, keywords next to a `$ref` were ignored. */
  private refStandsAlone = false;
  /** Draft 4 names the id `id`, not `$id`. */
  private isFirstDraft = false;
  private readonly work = new Work(SCHEMA_LIMITS.parts * 40 + SCHEMA_LIMITS.chars);

  constructor(private readonly schema: unknown) {}

  run(): Compiled {
    if (isObject(this.schema)) this.readDialect(this.schema);
    this.index(this.schema, null, HOME);
    const root = this.node(this.schema, []);
    for (let next = this.waiting.pop(); next; next = this.waiting.pop()) this.fill(next.node, next.standing);
    for (const node of endless(this.nodes.values())) {
      node.isEndless = true;
      this.reportUnchecked([], "its references are circular or too many; that part is not checked");
    }
    return { root, unchecked: this.unchecked };
  }

  private reportUnchecked(path: string[], message: string): void {
    if (this.unchecked.length < MAX_UNCHECKED) this.unchecked.push({ path, message });
  }

  private readDialect(schema: Record<string, unknown>): void {
    const { $schema } = schema;
    if ($schema === undefined) return;
    const found = typeof $schema === "string" ? DIALECT.exec($schema) : null;
    this.refStandsAlone = found?.[2] !== undefined;
    this.isFirstDraft = found?.[2] === "4";
    if (!found) this.reportUnchecked(["$schema"], "this dialect is unknown, so it is read as draft 2020-12");
  }

  /** Gives every schema its resource, and every resource its anchors. */
  private index(schema: unknown, around: Resource | null, base: string): void {
    if (!isObject(schema) || this.resourceOf.has(schema)) return;
    const id = this.idOf(schema);
    let resource = around;
    if (!resource || (id !== null && !id.startsWith("#") && !(this.refStandsAlone && "$ref" in schema))) {
      const address =
        id === null ? base : (resolved(id, base)?.split("#")[0] ?? `${base}/${this.resources.size}`);
      resource = { address, root: schema, anchors: new Map(), dynamicAnchors: new Map() };
      this.resources.set(address, resource);
    }
    if (!around) this.resources.set(HOME, resource);
    this.resourceOf.set(schema, resource);
    if (id?.startsWith("#") && id.length > 1) resource.anchors.set(id.slice(1), schema);
    this.indexAnchors(schema, resource);
    for (const inner of schemasIn(schema)) this.index(inner, resource, resource.address);
  }

  private idOf(schema: Record<string, unknown>): string | null {
    const id = this.isFirstDraft ? schema.id : schema.$id;
    return typeof id === "string" ? id : null;
  }

  private indexAnchors(schema: Record<string, unknown>, resource: Resource): void {
    const { $anchor, $dynamicAnchor } = schema;
    if (typeof $anchor === "string") resource.anchors.set($anchor, schema);
    if (typeof $dynamicAnchor !== "string") return;
    resource.anchors.set($dynamicAnchor, schema);
    resource.dynamicAnchors.set($dynamicAnchor, this.node(schema, []));
  }

  /** The node of a schema. Its rules are read later, so that schemas may refer to each other in circles. */
  private node(schema: unknown, path: string[]): Node {
    if (!isObject(schema)) {
      if (typeof schema !== "boolean")
        this.reportUnchecked(path, "it is not a valid schema, so it is not checked");
      const node = emptyNode(nowhere);
      if (schema === false)
        node.checks.push((_value, place, run) => run.refuse(place, "is not allowed here"));
      else if (schema !== true) node.checks.push(unknown);
      return node;
    }
    const known = this.nodes.get(schema);
    if (known) return known;
    const node = emptyNode(this.resourceOf.get(schema) ?? nowhere);
    this.nodes.set(schema, node);
    if (this.nodes.size > SCHEMA_LIMITS.schemas) {
      this.reportUnchecked(path, "it contains too many schemas; they are not checked from here on");
      node.checks.push(unknown);
      return node;
    }
    this.waiting.push({ node, standing: { schema, path } });
    return node;
  }

  private fill(node: Node, { schema, path }: Standing): void {
    const refs = this.refsOf(node, schema, path);
    node.checks.push(...refs);
    node.standard = schema.default;
    const isAlone = this.refStandsAlone && "$ref" in schema;
    const making: Making = {
      schema,
      node: (inner, ...more) => {
        const made = this.node(inner, [...path, ...more]);
        const [word = "", name = ""] = more;
        if (IN_PLACE.has(word)) node.inPlace.push(made);
        if (word === "allOf") node.always.push(made);
        if (word === "properties") node.properties.set(name, made);
        if (word === "items" && more.length === 1) node.items = made;
        return made;
      },
      reportUnchecked: (message, ...more) => this.reportUnchecked([...path, ...more], message),
      regex: (pattern, ...more) => this.regex(pattern, [...path, ...more]),
      canonical: (value) => canonical(value, this.work),
    };
    for (const word of keywordsOf(schema)) {
      if (isAlone) {
        this.reportUnchecked([...path, word], `"${word}" next to a reference is not checked in this draft`);
        continue;
      }
      const check = must(KEYWORDS, word)(schema[word], making);
      if (check) node.checks.push(check);
      node.asksForRest ||= isAboutRest(word);
    }
    for (const word of Object.keys(schema)) this.reportKeyword(word, schema, path);
  }

  private reportKeyword(word: string, schema: Record<string, unknown>, path: string[]): void {
    if (this.unchecked.length >= MAX_UNCHECKED) return;
    if (REFERENCES.has(word) || KEYWORDS.has(word) || ANNOTATIONS.has(word) || word.startsWith("x-")) return;
    const reader = READ_BY.get(word);
    if (reader && NEEDS_ITSELF.has(reader)) {
      if (!(reader in schema))
        this.reportUnchecked([...path, word], `"${word}" has no effect without "${reader}"`);
      return;
    }
    if (!reader) this.reportUnchecked([...path, word], `"${word}" is not checked`);
  }

  private refsOf(node: Node, schema: Record<string, unknown>, path: string[]): Check[] {
    const checks: Check[] = [];
    for (const word of REFERENCES) {
      const ref = schema[word];
      if (ref === undefined) continue;
      const target = typeof ref === "string" ? this.target(ref, node.resource) : undefined;
      if (
        typeof ref !== "string" ||
        target === undefined ||
        (word === "$recursiveRef" && "$recursiveAnchor" in this.rootKeywords())
      ) {
        this.reportUnchecked(
          [...path, word],
          `${JSON.stringify(ref)} doesn't exist in this schema, so that part is not checked`,
        );
        checks.push(unknown);
        continue;
      }
      const found = this.node(target, wayTo(ref));
      node.inPlace.push(found);
      node.always.push(found);
      const name = /#([^/#]+)$/.exec(ref)?.[1];
      const isDynamic =
        word === "$dynamicRef" && name !== undefined && isObject(target) && target.$dynamicAnchor === name;
      checks.push((value, place, run, seen) =>
        run.check(isDynamic ? outermost(name, found, run) : found, value, place, seen),
      );
    }
    return checks;
  }

  private rootKeywords = (): Record<string, unknown> => (isObject(this.schema) ? this.schema : {});

  /** The schema that a reference points to; undefined if there is none. Never fetches anything. */
  private target(ref: string, from: Resource): unknown {
    const address = resolved(ref, from.address);
    if (address === null) return undefined;
    const [home = "", fragment = ""] = address.split("#");
    const resource = this.resources.get(home) ?? (home === HOME ? this.resources.get(HOME) : undefined);
    if (!resource) return undefined;
    let decoded: string;
    try {
      decoded = decodeURIComponent(fragment);
    } catch {
      return undefined;
    }
    if (decoded === "") return resource.root;
    return decoded.startsWith("/") ? this.follow(decoded, resource) : resource.anchors.get(decoded);
  }

  /** The schema at a JSON pointer in a resource; undefined if there is none. */
  private follow(pointer: string, resource: Resource): unknown {
    let place: unknown = resource.root;
    let owner = resource;
    for (const word of pointer.slice(1).split("/")) {
      const key = word.replace(/~1/g, "/").replace(/~0/g, "~");
      const inside = isList(place) ? Object.fromEntries(place.entries()) : place;
      if (!isObject(inside) || !Object.hasOwn(inside, key)) return undefined;
      place = inside[key];
      if (isObject(place)) owner = this.resourceOf.get(place) ?? owner;
    }
    // A reference may point into keywords that don't hold schemas.
    this.index(place, owner, owner.address);
    return isObject(place) || typeof place === "boolean" ? place : undefined;
  }

  private regex(pattern: string, path: string[]): Regex | null {
    let found = this.regexes.get(pattern);
    if (!found) {
      found = this.tryRegex(pattern);
      this.regexes.set(pattern, found);
    }
    if (!(found instanceof PatternError)) return found;
    this.reportUnchecked(path, `the pattern ${shortened(pattern)} is not checked: ${found.message}`);
    return null;
  }

  private tryRegex(pattern: string): Regex | PatternError {
    this.patternSize += PATTERN_ITSELF;
    if (this.patternSize > SCHEMA_LIMITS.patterns) return TOO_MANY_PATTERNS;
    try {
      const regex = compileRegex(pattern);
      this.patternSize += regex.size;
      return regex;
    } catch (error) {
      if (error instanceof PatternError) return error;
      throw error;
    }
  }
}

/** The keys that lead to the target of a reference. */
const wayTo = (ref: string) =>
  ref.startsWith("#/") ? ref.slice(2).split("/").slice(0, SCHEMA_LIMITS.depth) : ref === "#" ? [] : [ref];
const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
const IN_PLACE = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependencies",
]);
const isAboutRest = (word: string) => word.startsWith("unevaluated");

const RANKS = new Map([...KEYWORDS.keys()].map((word, at) => [word, at]));

/** The keywords to read, those about the rest last. */
function keywordsOf(schema: Record<string, unknown>): string[] {
  const keywords = new Set<string>();
  for (const word of Object.keys(schema)) {
    const reader = READ_BY.get(word);
    if (KEYWORDS.has(word)) keywords.add(word);
    else if (reader && !NEEDS_ITSELF.has(reader)) keywords.add(reader);
  }
  return [...keywords].sort((a, b) => must(RANKS, a) - must(RANKS, b));
}

/** Keywords without which those that depend on them have no effect. */
const NEEDS_ITSELF = new Set(["if", "contains"]);
const TOO_MANY_PATTERNS = new PatternError("this schema's patterns are too large in total", true);
const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The target of a dynamic reference: in the outermost resource on the path that has the anchor. */
function outermost(name: string, otherwise: Node, run: Run): Node {
  run.work.spend(run.scope.length);
  for (const resource of run.scope) {
    const found = resource.dynamicAnchors.get(name);
    if (found) return found;
  }
  return otherwise;
}

function resolved(ref: string, base: string): string | null {
  if (ref.startsWith("#")) return base.split("#")[0] + ref;
  try {
    return new URL(ref, base).href;
  } catch {
    return null;
  }
}
