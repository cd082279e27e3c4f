import { HIDDEN, KEY_SHAPES } from "@/server/domain/base/key-shapes";
import { isRaw, join } from "@/server/domain/base/lenient-reader";

const SECRET =
  /api[-_]?key|secret|password|passwd|authorization|credential|(^|[-_])(auth|access|bearer|refresh)?[-_]?token$/i;
/** Under these names HTTP requests carry keys, besides. */
const SENT = /^(?:key|sig|signature|(?:set-)?cookie|x-.*-key|.*(?:access|auth|subscription)[-_]key)$/i;
const SCHEME = /^(?:bearer|basic|token|bot|key|api-?key) +/i;

/** What a node sends as it is typed: a header, a part of an address, an argument of a tool. */
const SENDING: ReadonlySet<string> = new Set(["headers", "query", "args"]);

interface Found {
  /** Dotted, within the settings. */
  place: string;
  value: string;
}

/** Whether a text that is sent under this name is a key: no gap that a run fills in, and no reference to where it is kept. */
function isKey(name: string, text: string): boolean {
  const value = text.trim().replace(SCHEME, "");
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

/** A copy without them; what is passed on to providers as it is loses such fields whole. */
export const withoutSecrets = (value: unknown): unknown => hideKeys(withoutPassedOn(value), () => {});

/** A copy in which HIDDEN stands for such texts; `note` hears of each. */
function hideKeys(
  value: unknown,
  note: (place: string, value: string) => void,
  at = "",
  name = "",
  isSent = false,
): unknown {
  if (typeof value === "string") {
    if (isSent && isKey(name, value)) {
      note(at, value.trim());
      return HIDDEN;
    }
    const hide = (key: string) => {
      note(at, key);
      return HIDDEN;
    };
    return value
      .replace(KEY_SHAPES, hide)
      .replace(
        /([?&]([\w-]{1,60})=)([^&#\s"']{8,400})/g,
        (whole, before: string, part: string, text: string) =>
          isKey(part, text) ? before + hide(text) : whole,
      );
  }
  if (Array.isArray(value))
    return value.map((item, position) => hideKeys(item, note, join(at, position), name, isSent));
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      // The text of an expression is none that is sent.
      key === "$expr"
        ? inner
        : hideKeys(inner, note, join(at, key), key === "$template" ? name : key, isSent || SENDING.has(key)),
    ]),
  );
}

/** Where a file of this value does not hold what looks like a secret. */
export const secretPlaces = (value: unknown): string[] => [
  ...passedOnPlaces(value),
  ...new Set(keysIn(withoutPassedOn(value)).map(({ place }) => place)),
];

/** In the fields that are passed on to providers as they are. */
function passedOnPlaces(value: unknown, at = "", isPassedOn = false): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, position) => passedOnPlaces(item, join(at, position), isPassedOn));
  if (!isRaw(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (isPassedOn && SECRET.test(key)) return [join(at, key)];
    return passedOnPlaces(inner, join(at, key), isPassedOn || key === "extra_body");
  });
}

function withoutPassedOn(value: unknown, isPassedOn = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutPassedOn(item, isPassedOn));
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isPassedOn && SECRET.test(key)))
      .map(([key, inner]) => [key, withoutPassedOn(inner, isPassedOn || key === "extra_body")]),
  );
}
