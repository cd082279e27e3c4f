import { type Finding, Findings } from "@/server/domain/base/lenient-reader";
import { Work, WorkError } from "@/server/domain/base/work-budget";
import { withPlainNames } from "@/server/domain/library/plain-names";
import { isExecutable } from "@/server/domain/nodes";
import { MAX_ROLES } from "../role-files";
import { examplesIn } from "./fenced";
import { filesProblem, IMPORT_LIMITS } from "./files";
import type { Claim, Format, Imported } from "./format";
import { FORMATS } from "./formats";
import { type ImportFile, newSource, type Source } from "./source";

/**
 * Units that reading the files of one import may take: a step of a parser and an expression cost one, a text a few and
 * one for each 16 characters. Well beyond what files that people wrote take, and below a few seconds.
 */
const MOST_WORK = 300_000;
export const TOO_COMPLEX =
  "This file is too complex to read: its values multiply or refer to each other too often. Shorten it, or import its parts separately.";
/** Characters of all that an import brings. */
const MOST_CHARS = IMPORT_LIMITS.fileBytes;

/** One thing that was found among the files of an import. */
export interface FoundClaim {
  format: string;
  /** As in "This is …". */
  label: string;
  title: string;
  files: string[];
  /** Whether it can be read, or is known by name only. */
  isReadable: boolean;
}

export interface ImportRead {
  /** All that the files hold, the surest first. */
  found: FoundClaim[];
  /** Which of them was read. */
  picked: number | null;
  /** Null where nothing can be imported; an error among the findings says why. */
  imported: Imported | null;
  findings: Finding[];
}

export interface ImportChoices {
  /** Which of `found`; the first that can be read if absent. */
  pick?: number | undefined;
  /** What a person said to the choices of what is read, by their id. */
  answers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads files of any format: recognised by what is in them, the surest first. Nothing in them is run, resolved or fetched.
 */
export function readImport(
  files: readonly ImportFile[],
  { pick, answers = {} }: ImportChoices = {},
  formats: readonly Format[] = FORMATS,
): ImportRead {
  const findings = new Findings();
  const nothing = (message: string): ImportRead => {
    findings.error("", message);
    return { found: [], picked: null, imported: null, findings: findings.all() };
  };
  const problem = filesProblem(files);
  if (problem) return nothing(problem);
  // What a format does not read, its findings do not speak of.
  const parsed = files.map((file) => {
    const own = new Findings();
    return { source: newSource(file, own), findings: own.all() };
  });
  const sources = parsed.map(({ source }) => source);
  const claims = claimsOf(sources, formats);
  const found = claims.map(({ format, claim }) => seen(format, claim));
  const examples = claims.length === 0 ? examplesIn(files) : [];
  if (examples.length > 0) return readImport(examples, { pick, answers }, formats);
  if (claims.length === 0) {
    reportUnread(sources, findings);
    return { found, picked: null, imported: null, findings: findings.all() };
  }
  const picked =
    pick ??
    Math.max(
      0,
      found.findIndex(({ isReadable }) => isReadable),
    );
  const chosen = claims[picked];
  if (!chosen) return { ...nothing(`These files have no item ${picked + 1}.`), found };
  const { format, claim } = chosen;
  if (!("read" in format)) {
    findings.error("", `This is ${format.label}. ${format.instead}`);
    return { found, picked, imported: null, findings: findings.all() };
  }
  const before = parsed.filter(({ source }) => claim.files.includes(source)).flatMap((one) => one.findings);
  const reading = {
    claim,
    all: sources,
    findings,
    answers: new Map(Object.entries(answers)),
    work: new Work(MOST_WORK),
  };
  const imported = withinLimits(() => withPlainNames(format.read(reading), findings), findings);
  reportUnclaimed(sources, claims, findings);
  if (imported && !findings.hasError()) reportEmpty(imported, findings);
  return {
    found,
    picked,
    imported: findings.hasError() ? null : imported,
    findings: [...before, ...findings.all()],
  };
}

/** What is read, or null with a finding where that takes too much work or makes too much text. */
function withinLimits(read: () => Imported, findings: Findings): Imported | null {
  try {
    const imported = read();
    const { length } = imported.roles;
    if (length > MAX_ROLES) {
      findings.error("", `The files have ${length} roles; at most ${MAX_ROLES} can be imported at once.`);
      return null;
    }
    if (JSON.stringify(imported).length <= MOST_CHARS) return imported;
  } catch (error) {
    // A text, a list or a stack that grew beyond what there is.
    if (!(error instanceof WorkError) && !(error instanceof RangeError)) throw error;
  }
  findings.error("", TOO_COMPLEX);
  return null;
}

interface Claimed {
  format: Format;
  claim: Claim;
}

/**
 * The formats' claims on the files, the most certain first; a file claimed with more certainty is excluded from other
 * claims.
 */
function claimsOf(sources: readonly Source[], formats: readonly Format[]): Claimed[] {
  const all = formats
    .flatMap((format, order) => format.recognise(sources).map((claim) => ({ format, claim, order })))
    .sort((a, b) => b.claim.sure - a.claim.sure || a.order - b.order);
  const takenBy = new Map<Source, Format>();
  return all.filter(({ format, claim }) => {
    if (claim.files.some((file) => (takenBy.get(file) ?? format) !== format)) return false;
    for (const file of claim.files) takenBy.set(file, format);
    return true;
  });
}

const seen = (format: Format, { files, title }: Claim): FoundClaim => ({
  format: format.id,
  label: format.label,
  title: title ?? files[0]?.path ?? "",
  files: files.map(({ path }) => path),
  isReadable: "read" in format,
});

/** Why nothing was recognised: what cannot be parsed, or what kind of files these are. */
function reportUnread(sources: readonly Source[], findings: Findings): void {
  const broken = sources.filter(({ problem }) => problem);
  for (const source of broken) source.on(findings).error("", source.problem ?? "");
  if (broken.length > 0) return;
  const names = sources.map(({ path }) => path).filter(Boolean);
  findings.error(
    "",
    sources.every(({ text }) => !text.trim())
      ? "The file is empty."
      : `No workflow, crew, agent or role in a supported format was found in ${names.length === 0 ? "this text" : listed(names)}.`,
  );
}

/** Names the files that are in no part of the import. */
function reportUnclaimed(sources: readonly Source[], claims: readonly Claimed[], findings: Findings): void {
  const read = new Set(claims.flatMap(({ claim }) => claim.files));
  const broken = sources.filter((source) => !read.has(source) && source.problem);
  for (const source of broken) source.on(findings).dropped("", source.problem ?? "");
  const rest = sources.filter((source) => !read.has(source) && !source.problem).map(({ path }) => path);
  if (rest.length > 0) findings.dropped("", `Skipped: ${listed(rest)}.`);
}

/** A workflow of which nothing was understood is no import. */
function reportEmpty({ graph, roles, agents, crews }: Imported, findings: Findings): void {
  const steps = graph ? Object.values(graph.nodes).filter(isExecutable).length : 0;
  if (graph ? steps === 0 : roles.length + agents.length + crews.length === 0)
    findings.error("", "Nothing could be read, so there is nothing to import.");
}

/** Names in a sentence: the first five, and how many more. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${first} and ${names.length - 5} more` : first;
}
