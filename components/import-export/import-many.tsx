"use client";

import { type ReactNode, useEffect, useState } from "react";
import type { RoleInFile } from "@/components/import-export/roles-in-file";
import { describeLeftOut, ToolsAsked } from "@/components/import-export/tools-asked";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { toast } from "@/components/ui/toasts";
import { FileSource } from "./file-source";
import { FindingList, type FindingView } from "./finding-list";
import type { InFileState } from "./in-file-badge";

export type Existing = "skip" | "replace";

/** Says what an import did. */
export function toastImported(
  done: Record<"created" | "replaced" | "skipped", readonly unknown[]> & {
    left_out: Parameters<typeof describeLeftOut>[0];
  },
) {
  const detail = describeLeftOut(done.left_out);
  toast(
    `${done.created.length} added, ${done.replaced.length} replaced, ${done.skipped.length} left as they were`,
    { tone: "success", ...(detail ? { detail } : {}) },
  );
}

export interface ImportManyProps {
  /** What the file holds, in one word and in its plural, such as "role" and "roles". */
  noun: [one: string, many: string];
  description: string;
  placeholder: string;
  /** A text that is there already, from a file that was dropped. */
  text?: string | undefined;
  /** What was found in the text; undefined before one was read. */
  found: { states: readonly InFileState[]; findings: readonly FindingView[] } | undefined;
  /** Keep its identity stable. */
  read: (about: { text: string }) => void;
  isReading: boolean;
  error: string | undefined;
  onReset: () => void;
  isLoading: boolean;
  /** The roles of the file that come in under a choice; they get the tools that are ticked. */
  rolesThatCome: (existing: Existing) => readonly RoleInFile[];
  load: (about: { text: string; existing: Existing; allow_tools: string[] }) => void;
  onClose: () => void;
  /** The list of what was found. */
  children: ReactNode;
  /** What else there is to say about it. */
  note?: ReactNode;
}

/** Imports one thing or many from a YAML or JSON text; shows what is in it before anything is saved. */
export function ImportMany(props: ImportManyProps) {
  const { noun, found, read, text: given } = props;
  const [one, many] = noun;
  const [text, setText] = useState("");
  const [existing, setExisting] = useState<Existing>("skip");
  const [allowed, setAllowed] = useState<string[]>([]);
  useEffect(() => {
    if (given !== undefined) read({ text: given });
  }, [given, read]);
  const count = (state: InFileState) => found?.states.filter((other) => other === state).length ?? 0;
  const differing = count("differs");
  const willChange = count("new") + (existing === "replace" ? differing : 0);
  return (
    <Dialog
      open
      onOpenChange={props.onClose}
      size="lg"
      title={`Import ${many}`}
      description={found ? "Nothing is saved yet." : props.description}
      footer={
        found ? (
          <>
            <Button onClick={() => (given === undefined ? props.onReset() : props.onClose())}>
              {given === undefined ? "Back" : "Cancel"}
            </Button>
            <Button
              variant="primary"
              disabled={willChange === 0}
              pending={props.isLoading}
              onClick={() => props.load({ text: given ?? text, existing, allow_tools: allowed })}
            >
              {willChange === 0
                ? "Nothing to import"
                : `Import ${willChange} ${willChange === 1 ? one : many}`}
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <div className="flex flex-col gap-4">
          {found.states.length > 0 ? (
            props.children
          ) : (
            <p role="alert">No {one} could be read from this text.</p>
          )}
          {props.note}
          {differing > 0 ? (
            <SegmentedControl
              label={`${many.charAt(0).toUpperCase()}${many.slice(1)} that differ from yours`}
              value={existing}
              onValueChange={setExisting}
              className="self-start"
              options={[
                { value: "skip", label: "Keep mine" },
                { value: "replace", label: `Replace ${differing} of mine` },
              ]}
            />
          ) : null}
          <ToolsAsked roles={props.rolesThatCome(existing)} allowed={allowed} onAllowed={setAllowed} />
          {found.findings.length > 0 ? <FindingList findings={found.findings} /> : null}
        </div>
      ) : (
        <FileSource
          accept=".yaml,.yml,.json,application/json,application/yaml,text/yaml"
          pasteLabel="Or paste its text"
          placeholder={props.placeholder}
          error={props.error}
          pending={props.isReading}
          onText={(next) => {
            setText(next);
            setAllowed([]);
            read({ text: next });
          }}
        />
      )}
    </Dialog>
  );
}
