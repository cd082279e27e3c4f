import { isObject } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { fillIn, SECRET_ARGUMENTS, SECRET_TOOLS } from "@/server/domain/tool/secret";
import { ToolFailure, type ToolScope } from "./define";

/** The value of a secret for a request to this host, or a sentence that says why it may not be sent there. */
export type OpenSecret = (
  name: string,
  about: { host: string; run: ToolScope["run"] },
) => { value: string } | { error: string };

/** The parts of a request. */
export interface RequestArguments {
  url: string;
  headers: Record<string, string>;
  body?: Json | undefined;
}

/** Says that this tool can't be called with secrets. */
export const takesNoSecrets = (tool: string): string =>
  `${tool} can't use secrets. Only ${SECRET_TOOLS.join(" and ")} can.`;

/** The arguments with the call's secrets filled in, for a request to this host. Throws ToolFailure. */
export function withSecrets<A extends RequestArguments>(
  args: A,
  host: string,
  { secrets = [], run }: ToolScope,
  open: OpenSecret | undefined,
): A {
  const filled = { ...args };
  for (const { at, names } of secrets) {
    const [argument = "", ...place] = at;
    const values = new Map(names.map((name) => [name, valueOf(name, { host, run }, open)]));
    if (argument === "url" && place.length === 1) filled.url = inQuery(filled.url, must(place, 0), values);
    else if (argument === "headers" && place.length === 1)
      filled.headers = putAt(filled.headers, place, (text) => inHeader(fillIn(text, values), names));
    else if (argument === "body")
      filled.body = putAt(filled.body ?? null, place, (text) => fillIn(text, values));
    else
      throw new ToolFailure(
        400,
        `Secrets can't be used in ${argument}, only in ${[...SECRET_ARGUMENTS].join(" and ")}.`,
      );
  }
  return filled;
}

function valueOf(name: string, about: Parameters<OpenSecret>[1], open: OpenSecret | undefined): string {
  if (!open) throw new ToolFailure(503, "Secrets can't be used here: only the server has them.");
  const opened = open(name, about);
  if ("error" in opened) throw new ToolFailure(403, opened.error);
  return opened.value;
}

function inQuery(address: string, name: string, values: ReadonlyMap<string, string>): string {
  const url = new URL(address);
  url.searchParams.set(name, fillIn(url.searchParams.get(name) ?? "", values));
  return url.href;
}

/** Refuses values that a header can't contain, since the network's own error would quote them. */
function inHeader(value: string, names: readonly string[]): string {
  if (/^[\t\x20-\x7e]*$/.test(value)) return value;
  throw new ToolFailure(
    400,
    `The secret ${names.join(", ")} has line breaks or special characters, which a header can't contain.`,
  );
}

/** A copy with the text at one place replaced. */
function putAt<T extends Json>(value: T, place: readonly string[], change: (text: string) => string): T;
function putAt(value: Json, [step, ...rest]: readonly string[], change: (text: string) => string): Json {
  if (step === undefined) return typeof value === "string" ? change(value) : value;
  if (Array.isArray(value))
    return value.map((one, nth) => (String(nth) === step ? putAt(one, rest, change) : one));
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: putAt(value[step] ?? null, rest, change) };
}
