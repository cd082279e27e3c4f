import { isObject } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { fillIn, SECRET_ARGUMENTS, SECRET_TOOLS } from "@/server/domain/tool/secret";
import { ToolFailure, type ToolScope } from "./define";

/** The value of a secret for a request to this host, or why it isn't sent there, in a sentence. */
export type OpenSecret = (
  name: string,
  about: { host: string; run: ToolScope["run"] },
) => { value: string } | { error: string };

/** What a request is made of. */
export interface RequestArguments {
  url: string;
  headers: Record<string, string>;
  body?: Json | undefined;
}

/** Why a tool that sends no requests cannot be called with secrets. */
export const takesNoSecrets = (tool: string): string =>
  `${tool} can't use secrets. Only ${SECRET_TOOLS.join(" and ")} can.`;

/** The arguments with the secrets that the call names, for a request to this host. Throws ToolFailure. */
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

/** What a header can't carry is refused here: the network's own message would repeat it. */
function inHeader(value: string, names: readonly string[]): string {
  if (/^[\t\x20-\x7e]*$/.test(value)) return value;
  throw new ToolFailure(
    400,
    `The secret ${names.join(", ")} has line breaks or special characters, which a header can't carry.`,
  );
}

/** A copy with another text at a place that has one. */
function putAt<T extends Json>(value: T, place: readonly string[], change: (text: string) => string): T;
function putAt(value: Json, [step, ...rest]: readonly string[], change: (text: string) => string): Json {
  if (step === undefined) return typeof value === "string" ? change(value) : value;
  if (Array.isArray(value))
    return value.map((one, nth) => (String(nth) === step ? putAt(one, rest, change) : one));
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: putAt(value[step] ?? null, rest, change) };
}
