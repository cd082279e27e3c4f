import { compileRegex, PatternError, type Regex, regexSize } from "../regex/regex";
import type { Work } from "../regex/work";

type Format = (text: string, work: Work) => boolean;

/** Matched by the linear engine, too, so that no text makes them slow. */
function byPattern(source: string): Format {
  let regex: Regex | null = null;
  return (text, work) => {
    regex ??= compileRegex(source);
    return regex.test(text, work);
  };
}

const DATE = "\\d{4}-\\d\\d-\\d\\d";
const TIME = "\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:[zZ]|[+-]\\d\\d:\\d\\d)";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HOSTNAME = `${LABEL}(?:\\.${LABEL})*`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LOCAL = `(?:${ATOM}(?:\\.${ATOM})*|"(?:[^"\\\\]|\\\\.)*")`;
const ESCAPED = "%[0-9A-Fa-f]{2}";
const WIDE = "\\u00a0-\\u{10ffff}";
const authority = (wide: string) => {
  const signs = `A-Za-z0-9._~!$&'()*+,;=${wide}-`;
  const inBrackets = `\\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\\.[:${signs}]+)\\]`;
  return `//(?:(?:[:${signs}]|${ESCAPED})*@)?(?:${inBrackets}|(?:[${signs}]|${ESCAPED})*)(?::\\d*)?`;
};
const reference = (wide = "") => {
  const signs = `(?:[A-Za-z0-9._~:/?@!$&'()*+,;=${wide}-]|${ESCAPED})*`;
  // Two slashes at the start introduce an authority.
  const first = `(?:[A-Za-z0-9._~:?@!$&'()*+,;=${wide}-]|${ESCAPED})`;
  return `(?:${authority(wide)}(?:[/?]${signs})?|/?(?:${first}${signs})?)(?:#${signs})?`;
};
const VARIABLE_SIGN = `(?:[A-Za-z0-9_]|${ESCAPED})`;
const VARIABLE = `${VARIABLE_SIGN}(?:\\.?${VARIABLE_SIGN})*(?::[1-9]\\d{0,3}|\\*)?`;
const SCHEME = "[A-Za-z][A-Za-z0-9+.-]*:";

const email = byPattern(`^${LOCAL}@(?:${HOSTNAME}|\\[(?:IPv6:)?[0-9A-Fa-f:.]+\\])$`);
const date = byPattern(`^${DATE}$`);
const time = byPattern(`^${TIME}$`);
const ipv6Signs = byPattern("^[0-9A-Fa-f:.]{2,45}$");

/** The supported formats. Any other format rejects nothing. */
export const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["date", isDate],
  ["time", isTime],
  [
    "date-time",
    (text, work) =>
      /^.{10}[tT]/.test(text) && isDate(text.slice(0, 10), work) && isTime(text.slice(11), work),
  ],
  [
    "duration",
    byPattern(
      "^P(?:\\d+W|(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?|T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))$",
    ),
  ],
  ["email", email],
  ["idn-email", byPattern("^[^\\s@]+@[^\\s@]+$")],
  ["hostname", byPattern(`^(?=.{1,253}$)${HOSTNAME}$`)],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["uri", byPattern(`^${SCHEME}${reference()}$`)],
  ["uri-reference", byPattern(`^(?:${SCHEME})?${reference()}$`)],
  ["iri", byPattern(`^${SCHEME}${reference(WIDE)}$`)],
  ["iri-reference", byPattern(`^(?:${SCHEME})?${reference(WIDE)}$`)],
  [
    "uri-template",
    byPattern(
      `^(?:[^\\x00-\\x20\\x7f{}"<>\\\\^\`|%]|${ESCAPED}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`,
    ),
  ],
  ["uuid", byPattern("^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$")],
  ["json-pointer", byPattern("^(?:/(?:[^/~]|~[01])*)*$")],
  ["relative-json-pointer", byPattern("^(?:0|[1-9]\\d*)(?:#|(?:/(?:[^/~]|~[01])*)*)$")],
  ["regex", isPattern],
]);

/** Formats that restrict nothing: hints for forms and for languages with narrow numbers. */
export const HINTS = new Set([
  "password",
  "binary",
  "int32",
  "int64",
  "float",
  "double",
  "textarea",
  "markdown",
]);

const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
function isDate(text: string, work: Work): boolean {
  if (!date(text, work)) return false;
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : (MONTHS[month - 1] ?? 0));
}

function isTime(text: string, work: Work): boolean {
  if (!time(text, work)) return false;
  const twoDigits = (at: number) => Number(text.slice(at, at + 2));
  const [hours, minutes, seconds] = [twoDigits(0), twoDigits(3), twoDigits(6)];
  const zone = /[zZ]$/.test(text) ? [0, 0] : text.slice(-5).split(":").map(Number);
  const [aheadHours = 0, aheadMinutes = 0] = zone;
  if (hours > 23 || minutes > 59 || seconds > 60 || aheadHours > 23 || aheadMinutes > 59) return false;
  if (seconds < 60) return true;
  // A leap second is at the end of a day in UTC.
  const ahead = (text.at(-6) === "-" ? -1 : 1) * (aheadHours * 60 + aheadMinutes);
  return (((hours * 60 + minutes - ahead) % 1440) + 1440) % 1440 === 1439;
}

function isIpv4(text: string): boolean {
  if (text.length > 15) return false;
  const parts = text.split(".");
  return (
    parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isIpv6(text: string, work: Work): boolean {
  if (text.length > 45 || !ipv6Signs(text, work)) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const hasIpv4 = groups.at(-1)?.includes(".") && !text.endsWith("::");
  if (hasIpv4 && !isIpv4(groups.pop() ?? "")) return false;
  const count = groups.length + (hasIpv4 ? 2 : 0);
  return (
    groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) &&
    (halves.length === 2 ? count < 8 : count === 8)
  );
}

function isPattern(text: string, work: Work): boolean {
  work.spend(200 + text.length * 8);
  try {
    regexSize(text);
    return true;
  } catch (error) {
    return error instanceof PatternError && error.isValid;
  }
}
