import { isObject } from "@/server/domain/base/guards";
import type { Json } from "@/server/domain/base/values";
import { type SecretUse, secretBehind, splitAtSecrets, standIn } from "@/server/domain/tool/secret";
import { type NodeContext, NodeFailure } from "./define";

// Secrets in the settings of nodes. A reference counts only where a person wrote it: values are inserted into the text between
// references, and a value that contains the stand-in of a secret used in the same text fails the attempt.

interface Written<T> {
  value: T;
  /** Places are relative to the value. */
  uses: SecretUse[];
}

/** Replaces the references in a text with stand-ins; returns the names and the new text. */
type ReadText = (text: string) => { text: string; names: string[] };

/** A text of the settings, rendered between its references to secrets. Throws NodeFailure. */
export function renderWritten(text: string, ctx: Pick<NodeContext, "render">): Written<string> {
  const { parts, found, names } = rendered(text, ctx);
  refuseForged(parts, names);
  return { value: withNames(parts, found), uses: usesAt([], names) };
}

/** The body of a request: JSON where the text is JSON, else the text. Throws NodeFailure. */
export function renderBody(
  text: string,
  ctx: Pick<NodeContext, "render">,
  parse: (text: string) => Json,
): Written<Json> {
  const { parts, found, names } = rendered(text, ctx);
  const body = parse(joined(parts, found, ({ name, escape }) => standIn(name).replaceAll('"', `${escape}"`)));
  if (names.length === 0) return { value: body, uses: [] };
  // JSON has many spellings of a stand-in, so inserted values are checked after parsing.
  const without = joined(parts, found, ({ escape }) => (escape === "" ? "null" : ""));
  refuseForged([...parts, parse(without)], names);
  return withStandIns(body, (one) => ({
    text: one,
    names: names.filter((name) => one.includes(standIn(name))),
  }));
}

/** A value of the settings, with stand-ins in place of references to secrets. */
export const writtenValue = (value: Json): Written<Json> =>
  withStandIns(value, (text) => {
    const { between, found } = splitAtSecrets(text);
    return { text: withNames(between, found), names: namesOf(found) };
  });

function rendered(text: string, ctx: Pick<NodeContext, "render">) {
  const { between, found } = splitAtSecrets(text);
  return { parts: between.map((part) => ctx.render(part)), found, names: namesOf(found) };
}

const namesOf = (found: readonly { name: string }[]): string[] => [...new Set(found.map(({ name }) => name))];

const usesAt = (at: string[], names: string[]): SecretUse[] => (names.length > 0 ? [{ at, names }] : []);

type Found = ReturnType<typeof splitAtSecrets>["found"];

/** The parts of a text with something in place of each reference between them. */
const joined = (parts: readonly string[], found: Found, spell: (one: Found[number]) => string): string =>
  parts.map((part, at) => part + (found[at] ? spell(found[at]) : "")).join("");

const withNames = (parts: readonly string[], found: Found): string =>
  joined(parts, found, ({ name }) => standIn(name));

function withStandIns(whole: Json, read: ReadText): Written<Json> {
  const uses: SecretUse[] = [];
  const walk = (value: Json, at: string[]): Json => {
    const name = secretBehind(value);
    const written = name !== null && read(standIn(name)).names.length > 0 ? standIn(name) : value;
    if (typeof written === "string") {
      const { text, names } = read(written);
      uses.push(...usesAt(at, names));
      return text;
    }
    if (Array.isArray(value)) return value.map((one, nth) => walk(one, [...at, String(nth)]));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, walk(one ?? null, [...at, key])]),
    );
  };
  return { value: walk(whole, []), uses };
}

/** Throws NodeFailure if a value contains the stand-in of a secret that is used in the same text. */
function refuseForged(values: readonly Json[], names: readonly string[]): void {
  const text = JSON.stringify(values);
  const forged = names.find((name) =>
    [standIn(name), standIn(name).replaceAll('"', '\\"')].some((spelled) => text.includes(spelled)),
  );
  if (forged !== undefined)
    throw new NodeFailure(
      "CONFIG",
      `A value inserted into this node's settings names the secret ${forged}. Only the settings themselves can use secrets, so nothing was sent.`,
    );
}
