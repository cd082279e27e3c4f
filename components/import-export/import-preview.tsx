"use client";

import { CircleCheck } from "lucide-react";
import { RoleFace } from "@/components/display/role-face";
import { SketchPicture } from "@/components/display/sketch-picture";
import type { Answers } from "@/components/trpc";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { TextField } from "@/components/ui/input/text-field";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { sketchOf } from "@/server/domain/graph/sketch";
import { isExecutable } from "@/server/domain/nodes";
import { CapabilityList } from "./capability-list";
import { FindingList } from "./finding-list";
import { ImportQuestions } from "./import-questions";
import { InFileBadge, type InFileState } from "./in-file-badge";

interface RoleInFile {
  role: RoleDefinition;
  /** How it compares to the local role of the same name. */
  state: InFileState;
  /** Tools that the local role does not have. */
  asks: readonly string[];
  /** The approval mode in the file, and after the import; null if the file sets none. */
  confirmation: { file: string; here: string } | null;
}

/** The roles in the files. */
function RolesInFile({ roles }: { roles: readonly RoleInFile[] }) {
  return (
    <ul aria-label="Roles in the file" className="divide-y divide-line rounded-lg border border-line">
      {roles.map(({ role, state, confirmation }) => (
        <li key={role.name} className="flex items-center gap-3 px-3 py-2">
          <RoleFace name={role.name} icon={role.icon} color={role.color} size={28} />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{role.name}</span>
            <span className="block truncate text-[13px] text-ink-2">{role.description}</span>
            {confirmation ? (
              <span className="block text-[13px] text-ink-2 [overflow-wrap:anywhere]">
                {confirmation.file === confirmation.here
                  ? `Asks people ${confirmation.here}.`
                  : `The file asks people ${confirmation.file}. Here it asks ${confirmation.here}.`}
              </span>
            ) : null}
          </span>
          <InFileBadge state={state} />
        </li>
      ))}
    </ul>
  );
}

export type Looked = Answers["imports"]["importFiles"];
type RoleChoice = "add_new" | "replace" | "skip";

/** Choices that change the preview. */
export interface Wish {
  pick?: number;
  answers?: Record<string, string>;
  roles?: RoleChoice;
  existing?: "skip" | "replace";
  over?: string;
}

interface ImportPreviewProps {
  found: Looked;
  name: string;
  onName: (name: string) => void;
  wish: Wish;
  onWish: (wish: Wish) => void;
  allowed: readonly string[];
  onAllowed: (keys: string[]) => void;
}

/** A preview of an import: the workflow, further items, findings and capabilities. */
export function ImportPreview({ found, name, onName, wish, onWish, allowed, onAllowed }: ImportPreviewProps) {
  const { ok, graph, roles, crews, agents, tools, twins, findings, capabilities } = found;
  const questions = (
    <ImportQuestions
      found={found}
      onPick={(pick) => onWish({ ...wish, pick, answers: {} })}
      onAnswer={(id, value) => onWish({ ...wish, answers: { ...wish.answers, [id]: value } })}
    />
  );
  const [part] = found.picked === null ? [] : [found.found[found.picked]];
  if (!ok)
    return (
      <div className="flex flex-col gap-4">
        <p role="alert">Nothing to import.</p>
        {questions}
        <FindingList findings={findings} />
      </div>
    );
  const sketch = graph ? sketchOf(graph) : null;
  const others = [...crews, ...agents].filter(({ state }) => state === "differs").length;
  const missing = tools.filter(({ ours }) => ours === undefined);
  const [duplicate] = twins;
  return (
    <div className="flex flex-col gap-5">
      {part ? <p className="text-[13px] text-ink-2">This is {part.label}.</p> : null}
      {questions}
      {sketch ? (
        <SketchPicture sketch={sketch} className="h-40 w-full rounded-lg border border-line" />
      ) : null}
      {graph ? <TextField label="Name" value={name} onValueChange={onName} maxLength={200} /> : null}
      {duplicate ? <Duplicate duplicate={duplicate} wish={wish} onWish={onWish} /> : null}
      <ItemsInFile
        label="Crews in the file"
        rows={crews.map(({ crew, state }) => ({
          id: crew.crew_id,
          line: crew.agents.map(({ role_name }) => role_name).join(", "),
          state,
        }))}
      />
      <ItemsInFile
        label="Agents in the file"
        rows={agents.map(({ agent, state }) => ({ id: agent.agent_id, line: agent.role_name, state }))}
      />
      {others > 0 ? (
        <SegmentedControl<"skip" | "replace">
          label="Existing crews and agents"
          value={wish.existing ?? "skip"}
          onValueChange={(existing) => onWish({ ...wish, existing })}
          className="self-start"
          options={[
            { value: "skip", label: "Keep existing" },
            { value: "replace", label: `Replace ${others} existing` },
          ]}
        />
      ) : null}
      {roles.length > 0 ? <Roles {...{ found, wish, onWish }} /> : null}
      <Found graph={graph} findings={findings} />
      {missing.length > 0 ? <MissingTools tools={missing} /> : null}
      <CapabilityList
        title={graph ? "Requested permissions" : "Requested tools"}
        asked={capabilities}
        graph={graph ?? { nodes: {} }}
        allowed={allowed}
        onAllowed={onAllowed}
        isChange={wish.over !== undefined}
        later={
          graph
            ? "You can allow them later in the workflow's settings."
            : "You can allow them later on the Roles page."
        }
      />
    </div>
  );
}

/** The crews or agents in the files. */
function ItemsInFile({
  label,
  rows,
}: {
  label: string;
  rows: readonly { id: string; line: string; state: InFileState }[];
}) {
  if (rows.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-[13px] font-medium">{label}</h3>
      <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line">
        {rows.map(({ id, line, state }) => (
          <li key={id} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-[13px] font-medium">{id}</span>
              <span className="block truncate text-[13px] text-ink-2">{line}</span>
            </span>
            <InFileBadge state={state} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface WishProps {
  wish: Wish;
  onWish: (wish: Wish) => void;
}

/** Imports a copy, or replaces the workflow of the same name. */
function Duplicate({ duplicate, wish, onWish }: WishProps & { duplicate: Looked["twins"][number] }) {
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-[13px] font-medium">A workflow with this name already exists</h3>
      <SegmentedControl<"new" | "over">
        label="Workflow with this name"
        value={wish.over === undefined ? "new" : "over"}
        onValueChange={(choice) => {
          const { over: _before, ...rest } = wish;
          onWish(choice === "new" ? rest : { ...rest, over: duplicate.id });
        }}
        className="self-start"
        options={[
          { value: "new", label: "Keep both" },
          { value: "over", label: `Replace “${duplicate.name}”` },
        ]}
      />
    </div>
  );
}

/** The roles in the files, and whether to replace local ones that differ. */
function Roles({ found: { roles, graph }, wish, onWish }: WishProps & { found: Looked }) {
  const differing = roles.filter(({ state }) => state === "differs").length;
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-[13px] font-medium">Roles in the file</h3>
      <RolesInFile roles={roles} />
      {differing > 0 || graph ? (
        <SegmentedControl<RoleChoice>
          label="Import roles"
          value={wish.roles ?? "add_new"}
          onValueChange={(next) => onWish({ ...wish, roles: next })}
          className="self-start"
          options={[
            { value: "add_new", label: differing > 0 ? "Add new only" : "Add new" },
            ...(differing > 0 ? [{ value: "replace" as const, label: `Replace ${differing} existing` }] : []),
            ...(graph ? [{ value: "skip" as const, label: "Skip" }] : []),
          ]}
        />
      ) : null}
    </div>
  );
}

function MissingTools({ tools }: { tools: readonly Looked["tools"][number][] }) {
  return (
    <section aria-label="Missing tools" className="flex flex-col gap-1 text-[13px]">
      <h3 className="font-medium">Missing tools</h3>
      <p className="text-ink-2">Add them on the Tools page under any name, then select them for the role.</p>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {tools.map((tool) => (
          <li key={tool.name} className="px-3 py-2 [overflow-wrap:anywhere]">
            <span className="font-mono">{tool.name}</span>
            <span className="text-ink-2">, required by {tool.by.join(", ")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Found({ graph, findings }: Pick<Looked, "graph" | "findings">) {
  const nodeCount = graph ? Object.values(graph.nodes).filter(isExecutable).length : 0;
  return (
    <section aria-label="Findings" className="flex flex-col gap-2">
      {graph ? (
        <p className="text-[13px] text-ink-2">
          {nodeCount} {nodeCount === 1 ? "node" : "nodes"}, {graph.edges.length}{" "}
          {graph.edges.length === 1 ? "edge" : "edges"}
        </p>
      ) : null}
      {findings.length === 0 ? (
        <p className="flex items-center gap-2 text-[13px]">
          <CircleCheck aria-hidden="true" className="size-4 text-completed" />
          No issues found.
        </p>
      ) : (
        <FindingList findings={findings} />
      )}
    </section>
  );
}
