import type { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { Findings } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { Source } from "./source";

/** What an import brings. */
export interface Imported {
  name: string;
  /** Null where the files hold roles, agents or crews alone. */
  graph: WorkflowGraph | null;
  roles: RoleDefinition[];
  /** For the library. */
  agents: AgentConfig[];
  crews: CrewConfig[];
  /** Of the workflow. */
  tests: ScenarioTest[];
  tools: WantedTool[];
  choices: Choice[];
}

/** A tool that the files name. */
export interface WantedTool {
  /** As the file calls it. */
  name: string;
  /** The equivalent tool here; the role names it, and it has to be allowed. Absent: there is none. */
  ours?: string;
  /** Roles or agents that want it. */
  by: string[];
}

/** What the files leave open, for a person to say. */
export interface Choice {
  id: string;
  question: string;
  options: { value: string; label: string }[];
  /** The default. */
  value: string;
  /** Few need it: another choice answers it for most. */
  isDetail?: true;
}

/**
 * How certain a format is about its files. 3: they name it themselves; 2: no other format writes this; 1: they could be
 * of another format.
 */
export type Sureness = 1 | 2 | 3;

/** Files that make one thing together. */
export interface Claim {
  sure: Sureness;
  files: readonly Source[];
  /** What tells it from others in the same import: a folder, a name. */
  title?: string;
  /** The place of one of several things in one file, as the format wrote it. */
  part?: string;
}

export interface Reading {
  claim: Claim;
  /** All files, for those that a claim names. */
  all: readonly Source[];
  /** What was read, changed and left out. An error means that nothing is imported. */
  findings: Findings;
  /** The budget of the whole import: whatever follows values or makes texts of them counts what that takes. */
  work: Work;
  /** What a person said to `choices`, by their id. */
  answers: ReadonlyMap<string, string>;
}

interface Known {
  id: string;
  /** As in "This is …": "a CrewAI crew (YAML)". */
  label: string;
  /** By content; nothing is resolved, fetched or run. */
  recognise(sources: readonly Source[]): Claim[];
}
export interface ReadableFormat extends Known {
  read(reading: Reading): Imported;
}
/** A format that is known by name only. */
export interface UnsupportedFormat extends Known {
  /** What to do instead, as a sentence. */
  instead: string;
}
export type Format = ReadableFormat | UnsupportedFormat;

/** Claims each file separately, with the certainty that `sureness` returns; null: no claim. */
export const claimEach =
  (sureness: (source: Source) => Sureness | null) =>
  (sources: readonly Source[]): Claim[] =>
    sources.flatMap((source): Claim[] => {
      const sure = sureness(source);
      return sure ? [{ sure, files: [source] }] : [];
    });

export const nothingImported = (name = ""): Imported => ({
  name,
  graph: null,
  roles: [],
  agents: [],
  crews: [],
  tests: [],
  tools: [],
  choices: [],
});
