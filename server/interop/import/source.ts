import { HIDDEN } from "@/server/domain/base/key-shapes";
import { cleanCopy, type Findings, isRaw, type PlaceOf } from "@/server/domain/base/lenient-reader";
import { redact } from "@/server/secrets/redact";
import { type ParsedText, parseStructured } from "./parse";

/** One file of an import, as it came: its path in the folder or archive, and its text. */
export interface ImportFile {
  path: string;
  text: string;
}

/**
 * A file of an import, parsed once for all formats. Strings in `value` and `text` hold nothing that looks like a key or
 * a password; only Troupe's own files are read from `original`.
 */
export interface Source {
  readonly path: string;
  /** The path without folders. */
  readonly name: string;
  /** The folder, with / at its end; empty at the top. */
  readonly folder: string;
  readonly kind: ParsedText["kind"];
  /** What a file in JSON or YAML holds; undefined where it is only text, or cannot be parsed. */
  readonly value: unknown;
  readonly text: string;
  readonly original: string;
  /** Why a file that should be JSON or YAML is none, with the line and column. */
  readonly problem: string | undefined;
  /** The line (from 1) of a dotted place in `value`, or of the nearest part around it. */
  lineOf(at: string): number | undefined;
  /** Scopes findings to this file's path and lines; `under`: a prefix for each place. */
  on(findings: Findings, under?: string): Findings;
}

const SECRET_KEY =
  /^(api[-_]?keys?|.*[-_](api[-_]?key|secret|password|token)|secret|client[-_]?secret|password|passwd|authorization|access[-_]?token|bearer)$/i;

/** Parses a file; what is left out of it (reserved words, secrets) becomes findings. */
export function newSource(file: ImportFile, findings: Findings): Source {
  const slash = file.path.lastIndexOf("/");
  const parsed = parseStructured(file.path, file.text);
  const place: PlaceOf = (at) => {
    const line = parsed.lineOf(at);
    return { ...(file.path ? { file: file.path } : {}), ...(line === undefined ? {} : { line }) };
  };
  const report = findings.of(place);
  const copy = parsed.value === undefined ? null : cleanCopy(parsed.value, report);
  const isTooDeep = parsed.value !== undefined && copy === null;
  return {
    path: file.path,
    name: file.path.slice(slash + 1),
    folder: file.path.slice(0, slash + 1),
    kind: parsed.kind,
    value: copy ? withoutKeys(copy.value, "", report) : undefined,
    text: redact(file.text),
    original: file.text,
    problem: isTooDeep ? "The file is nested too deeply." : parsed.problem,
    lineOf: parsed.lineOf,
    on: (to, under = "") => to.of(place).under(under),
  };
}

/** The name of a file without its ending, as a title. */
export const titleOf = ({ name }: Source): string =>
  name
    .replace(/\.[^.]+$/, "")
    .replace(/[_-]+/g, " ")
    .trim();

/** A copy without texts that look like secrets, by their key or their shape; each is named. */
function withoutKeys(value: unknown, at: string, findings: Findings): unknown {
  const join = (key: string | number) => (at === "" ? String(key) : `${at}.${key}`);
  if (Array.isArray(value)) return value.map((item, place) => withoutKeys(item, join(place), findings));
  if (typeof value === "string") {
    const hidden = redact(value);
    if (hidden !== value)
      findings.dropped(
        at,
        "Removed a value that looks like a key. Enter it again in the settings of a provider or tool.",
      );
    return hidden;
  }
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (typeof inner === "string" && isSecret(key, inner)) {
        findings.dropped(
          join(key),
          `Removed "${key}", which looks like a secret. Enter it again in the settings of a provider or tool.`,
        );
        return [key, HIDDEN];
      }
      return [key, withoutKeys(inner, join(key), findings)];
    }),
  );
}

/** A name that means a secret, with a value that is one: not empty, and no reference to where it is kept. */
const isSecret = (key: string, value: string): boolean =>
  SECRET_KEY.test(key) &&
  value.length >= 8 &&
  !/\s/.test(value.trim()) &&
  !/^[$={%<]|\{\{|^(env|var|secret)[.:]/i.test(value.trim());
