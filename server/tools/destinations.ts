import { lastOf } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { UnvouchedPlace } from "@/server/domain/run/events";
import type { ToolSpec } from "@/server/domain/tool/tool";
import { addressesIn, isAccount, type UserProvidedText } from "./user-provided-text";

/**
 * A destination of a call. `argument`: its place in the arguments. web, email, account: an address, recognized by its
 * form. target: a recipient, recognized by the argument's name. object: the thing acted on. words: text sent to a
 * service. call: the tool itself, if no argument names a destination.
 */
export type Destination = Omit<UnvouchedPlace, "from">;

interface Leaf {
  /** The path of names from the root. */
  at: string;
  /** The nearest name, in small words. */
  name: string[];
  value: string;
}

/** Names of arguments that say where something goes or who gets it. */
const OUTWARD = new Set(
  "to cc bcc recipient recipients receiver payee beneficiary participant participants attendee attendees invitee invitees guest guests member members assignee assignees user users username email emails mail mailto iban bic account accounts phone channel channels room rooms chat conversation group groups team webhook endpoint url urls uri href link links host hostname domain site website server destination destinations target targets repo repository bucket remote address addressee".split(
    " ",
  ),
);
/** Names of arguments of reading tools that are places in the web. */
const PLACES = new Set(
  "url urls uri href link links host hostname domain site website endpoint server webhook".split(" "),
);
/** Names of arguments that say which thing is acted upon. */
const OBJECTS = new Set(
  "id ids uuid key path paths file files filename filenames folder directory title name names label object item record document event".split(
    " ",
  ),
);
/** Names of arguments that carry the data to send. */
const DATA = new Set(
  "body content contents text message messages description note notes comment comments summary subject html markdown data payload prompt query question answer reason value values json code input attachment attachments".split(
    " ",
  ),
);

/**
 * The destinations of a call that sends data externally: once the run has read untrusted content, each must come from a
 * person's own text. A tool that only reads leads to the web addresses it names and to the service that gets its query.
 * One that acts leads to the recipients it names; without recipients, to the object it acts on; and without an object,
 * all of its arguments must be the person's own.
 */
export function destinationsOf(spec: ToolSpec, args: JsonObject): Destination[] {
  if (!spec.sink) return [];
  const leaves = leavesOf(args);
  const declared = spec.ways_out;
  const addresses = leaves.flatMap((leaf) => addressesOf(leaf, declared?.places ?? []));
  if (spec.read_only) {
    const disclosed = leaves.filter(({ at }) => declared?.words?.includes(root(at)));
    return unique([
      ...addresses.filter(({ kind }) => kind === "web"),
      ...disclosed.map(({ at, value }): Destination => ({ argument: at, value, kind: "words" })),
    ]);
  }
  if (declared) {
    const named = leaves.filter(({ at }) => declared.places?.includes(root(at)));
    if (named.length > 0) return unique([...addresses, ...named.flatMap((leaf) => targetOf(leaf))]);
  }
  const has = (names: ReadonlySet<string>) => (leaf: Leaf) => leaf.name.some((word) => names.has(word));
  const isData = (leaf: Leaf) => leaf.name.length > 0 && DATA.has(lastOf(leaf.name));
  const outward = leaves.filter(
    (leaf) => has(OUTWARD)(leaf) && !isData(leaf) && !OBJECTS.has(lastOf(leaf.name)),
  );
  const objects = leaves.filter((leaf) => has(OBJECTS)(leaf) && !isData(leaf));
  const others = leaves.filter((leaf) => !isData(leaf) && !isPlain(leaf.value));
  const aimed = [outward, objects, others, leaves].find((some) => some.length > 0) ?? [];
  const kind = aimed === objects ? "object" : "target";
  const found = unique([...addresses, ...aimed.flatMap((leaf) => targetOf(leaf, kind))]);
  return found.length > 0 ? found : [{ argument: "", value: spec.name, kind: "call" }];
}

/** Whether this comes from a person's own text. */
export function isOwn({ argument, value, kind }: Destination, own: UserProvidedText): boolean {
  switch (kind) {
    case "web":
      return own.hasAddress(value);
    case "email":
      return own.hasEmail(value);
    case "account":
      return own.hasAccount(value);
    case "target":
    case "object":
      return own.hasId(value, nameOf(argument).join(" ")) || own.hasAccount(value);
    case "words":
      return own.missing(value).length === 0;
    case "call":
      return false;
  }
}

const root = (at: string) => /^[^.[]*/.exec(at)?.[0] ?? "";
const nameOf = (at: string) =>
  (at.split(".").at(-1) ?? "")
    .replace(/\[\d+\]/g, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

/** Dates, times, amounts and yes or no say how, not where. */
const isPlain = (value: string) =>
  /^(?:true|false|[+-]?\d{1,15}(?:[.,]\d{1,6})?%?|\d{4}-\d{2}-\d{2}(?:[T ][\d:.]{4,15}(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(?::\d{2})?)$/.test(
    value.trim(),
  );

/** Every text and number in the arguments; numbers count where a name says that they name something. */
function leavesOf(args: JsonObject): Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: Json, at: string, depth: number): void => {
    if (value === null || depth > 32) return;
    if (Array.isArray(value)) value.forEach((each, index) => walk(each, `${at}[${index}]`, depth + 1));
    else if (typeof value === "object")
      for (const [key, each] of Object.entries(value)) walk(each, at ? `${at}.${key}` : key, depth + 1);
    else if (typeof value !== "string" || value.trim() !== "")
      leaves.push({ at, name: nameOf(at), value: String(value) });
  };
  walk(args, "", 0);
  return leaves;
}

/** The addresses in a value by their form, and the whole of it where its name says that it is a place in the web. */
function addressesOf({ at, name, value }: Leaf, places: readonly string[]): Destination[] {
  const isPlace = places.includes(root(at)) || name.some((word) => PLACES.has(word));
  const found = addressesIn(value, { bareHosts: isPlace });
  const whole = isPlace && found.length === 0 ? [{ kind: "web" as const, value }] : found;
  const account =
    isAccount(value) && found.length === 0 ? [{ kind: "account" as const, value: value.trim() }] : [];
  return [...whole, ...account].map((each) => ({ argument: at, ...each }));
}

/** What a value names: the addresses in it, and the comma-separated names next to them. */
function targetOf({ at, name, value }: Leaf, kind: "target" | "object" = "target"): Destination[] {
  // A place in the web is an address already, whatever its form.
  if (name.some((word) => PLACES.has(word))) return [];
  return value
    .split(/[,;\n]/)
    .filter((part) => part.trim() !== "")
    .flatMap((part): Destination[] => {
      if (addressesIn(part).length > 0 || isAccount(part)) return [];
      return [{ argument: at, value: part.trim(), kind }];
    });
}

function unique(destinations: readonly Destination[]): Destination[] {
  const seen = new Set<string>();
  return destinations.filter(({ kind, value, argument }) => {
    const key = `${kind}\n${value}\n${root(argument)}`;
    return !seen.has(key) && seen.add(key);
  });
}
