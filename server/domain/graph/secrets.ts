import { HIDDEN, KEY_SHAPES } from "@/server/domain/base/key-shapes";
import { isRaw, join } from "@/server/domain/base/lenient-reader";
import { secretText } from "@/server/domain/tool/secret";

const SECRET =
  /api[-_]?key|secret|password|passwd|authorization|credential|(^|[-_])(auth|access|bearer|refresh)?[-_]?token$/i;
/** Under these names HTTP requests carry keys, besides. */
const SENT = /^(?:key|sig|signature|(?:set-)?cookie|x-.*-key|.*(?:access|auth|subscription)[-_]key)$/i;
const SCHEME = /^(?:bearer|basic|token|bot|key|api-?key) +/i;

/** Settings that a node sends unchanged: headers, parts of a URL, arguments of a tool. */
const SENDING: ReadonlySet<string> = new Set(["headers", "query", "args"]);

interface Found {
  /** Dotted, within the settings. */
  place: string;
  value: string;
}

/** A key without its scheme: "abc" for "Bearer abc". */
const bareKey = (text: string): string => text.trim().replace(SCHEME, "");

/** The key at this place of the settings, without its scheme; "" if there is none. */
export const keyAt = (config: unknown, place: string): string =>
  bareKey(keysIn(config).find((found) => found.place === place)?.value ?? "");

/** A text whose key is replaced by a reference to a secret; in JSON as a value or within a string. */
export function withReference(text: string, key: string, name: string): string {
  const reference = secretText(name);
  const isJson = /^\s*[{[]/.test(text);
  if (isJson && text.includes(`"${key}"`)) return text.replace(`"${key}"`, () => reference);
  return text.replace(key, () => (isJson ? reference.replaceAll('"', '\\"') : reference));
}

/** Whether a text that is sent under this name is a key: no gap that a run fills in, and no reference to where it is kept. */
function isKey(name: string, text: string): boolean {
  const value = bareKey(text);
  return (
    (SECRET.test(name) || SENT.test(name)) &&
    value.length >= 8 &&
    value !== HIDDEN &&
    !/\s|\{\{|^[$={%<]|^(?:env|var|secret)[.:]/i.test(value)
  );
}

/** Texts in the settings of a node that look like keys, by the name they are sent under or by their form. */
export function keysIn(config: unknown): Found[] {
  const found: Found[] = [];
  hideKeys(config, (place, value) => found.push({ place, value }));
  return found;
}

/** A copy without them. */
export const withoutSecrets = (value: unknown): unknown => hideKeys(value, () => {});

/** A copy with HIDDEN in place of keys; settings passed unchanged to providers lose those fields. `note` is called for each. */
function hideKeys(
  value: unknown,
  note: (place: string, value: string) => void,
  at = "",
  about: { name?: string; isSent?: boolean; isPassedOn?: boolean } = {},
): unknown {
  const { name = "", isSent = false, isPassedOn = false } = about;
  if (typeof value === "string") {
    const hide = (key: string) => {
      note(at, key.trim());
      return HIDDEN;
    };
    if (isSent && isKey(name, value)) return hide(value);
    const inFields = (text: string) =>
      text.replace(
        /("([\w-]{1,60})"\s*:\s*")([^"\\]{8,400})(?=")/g,
        (whole, before: string, field: string, held: string) =>
          isKey(field, held) ? before + hide(held) : whole,
      );
    return (name === "body" ? inFields(value) : value)
      .replace(KEY_SHAPES, hide)
      .replace(
        /([?&]([\w-]{1,60})=)([^&#\s"']{8,400})/g,
        (whole, before: string, part: string, text: string) =>
          isKey(part, text) ? before + hide(text) : whole,
      );
  }
  if (Array.isArray(value)) return value.map((item, place) => hideKeys(item, note, join(at, place), about));
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const place = join(at, key);
      // The text of an expression is none that is sent.
      if (key === "$expr") return [[key, inner]];
      if (isPassedOn && SECRET.test(key)) {
        note(place, typeof inner === "string" ? inner : "");
        return [];
      }
      const inside = {
        name: key === "$template" ? name : key,
        isSent: isSent || SENDING.has(key),
        isPassedOn: isPassedOn || key === "extra_body",
      };
      return [[key, hideKeys(inner, note, place, inside)]];
    }),
  );
}
