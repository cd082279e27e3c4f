"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { History, PowerOff, Trash2, Undo2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { fieldErrors } from "@/components/forms/field-errors";
import { ArgumentForm } from "@/components/forms/schema/argument-form";
import { SchemaField } from "@/components/forms/schema/schema-field";
import { UncheckedNotes } from "@/components/forms/unchecked-notes";
import { UnsavedGuard } from "@/components/library/unsaved-guard";
import { ErrorText } from "@/components/page/error-text";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { CodeArea } from "@/components/ui/input/code-area";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { isSameJson } from "@/server/domain/base/json";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { RISK_LEVELS, RiskLevel } from "@/server/domain/tool/tool";
import { Sheet } from "./tool-detail";
import { ToolResult } from "./tool-result";

type Saved = Answers["customTools"]["list"]["tools"][number];

const FIRST: CustomToolDefinition = {
  name: "",
  description: "",
  input_schema: {
    type: "object",
    properties: { text: { type: "string", description: "The text to look at" } },
    required: ["text"],
  },
  code: "const words = input.text.split(/\\s+/).filter(Boolean);\nreturn { words: words.length };\n",
  risk: "LOW",
  timeout_ms: 1_000,
};

const NO_INPUT = { type: "object", properties: {}, additionalProperties: false };

const RISKS = RiskLevel.options.map((value) => ({
  value,
  label: RISK_LEVELS[value].title,
  hint: RISK_LEVELS[value].sentence,
}));

/** Edits a JavaScript tool: its definition, a test run, and its versions. */
export function CustomToolEditor({ saved, isEnabled }: { saved: Saved | null; isEnabled: boolean }) {
  const first = saved?.definition ?? FIRST;
  const [draft, setDraft] = useState(first);
  const [schemaError, setSchemaError] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const set = (change: Partial<CustomToolDefinition>) => setDraft((before) => ({ ...before, ...change }));
  const read = CustomToolDefinition.safeParse(draft);
  const errors = fieldErrors(CustomToolDefinition, draft);
  const shown = tried ? errors : {};
  const isChanged = !isSameJson(draft, first);
  const { save, restore, remove } = useToolMutations(() => setLeaving(true));
  const submit = () => {
    setTried(true);
    if (read.success && !schemaError)
      save.mutate({ definition: read.data, base_version: saved?.version ?? null });
  };
  return (
    <Sheet
      name={draft.name || "New tool"}
      isPlace={draft.name === ""}
      badge={saved ? `Version ${saved.version}` : "Unsaved"}
      actions={
        <>
          {saved ? (
            <IconButton
              label={`Remove ${saved.definition.name}`}
              variant="danger"
              icon={<Trash2 aria-hidden="true" />}
              onClick={() => remove.mutate({ name: saved.definition.name })}
            />
          ) : null}
          <Button
            variant="primary"
            pending={save.isPending}
            disabled={saved !== null && !isChanged}
            onClick={submit}
          >
            {saved ? "Save" : "Create tool"}
          </Button>
        </>
      }
    >
      {isEnabled ? null : <CodeIsOff />}
      <div className="flex flex-col gap-4">
        <DefinitionFields
          draft={draft}
          isNew={saved === null}
          errors={shown}
          onChange={set}
          onSchemaError={setSchemaError}
        />
        <ErrorText error={save.error} />
      </div>
      <Trial
        definition={read.data}
        schema={draft.input_schema}
        isEnabled={isEnabled}
        onTried={() => setTried(true)}
      />
      {saved ? (
        <Versions
          saved={saved}
          onRestore={(version) => restore.mutate({ name: saved.definition.name, version })}
        />
      ) : null}
      <UnsavedGuard
        active={isChanged && !isLeaving && !save.isPending}
        what={draft.name ? `“${draft.name}”` : "the new tool"}
        onDiscard={() => setLeaving(true)}
      />
    </Sheet>
  );
}

/** Saving and removing leave the page. */
function useToolMutations(onLeave: () => void) {
  const { customTools } = useTrpc();
  const router = useRouter();
  const invalidate = useInvalidate("customTools", "tools");
  const save = useMutation(
    customTools.save.mutationOptions({
      onSuccess: ({ name, version }) => {
        onLeave();
        void invalidate();
        toast(`Saved “${name}”, version ${version}`, { tone: "success" });
        router.replace(`/tools?custom=${encodeURIComponent(name)}`);
      },
    }),
  );
  const restore = useMutation(customTools.restore.mutationOptions({ onSuccess: invalidate }));
  const remove = useMutation(
    customTools.remove.mutationOptions({
      onSuccess: ({ name }) => {
        onLeave();
        void invalidate();
        router.replace("/tools");
        toast(`Moved “${name}” to trash`, { undo: () => restore.mutate({ name }) });
      },
    }),
  );
  return { save, restore, remove };
}

function DefinitionFields({
  draft,
  isNew,
  errors,
  onChange,
  onSchemaError,
}: {
  draft: CustomToolDefinition;
  isNew: boolean;
  errors: Readonly<Record<string, string>>;
  onChange: (change: Partial<CustomToolDefinition>) => void;
  onSchemaError: (error: string | null) => void;
}) {
  return (
    <>
      <TextField
        label="Name"
        mono
        value={draft.name}
        onValueChange={(name) => onChange({ name })}
        disabled={!isNew}
        placeholder="count_words"
        error={errors.name}
        hint={
          isNew
            ? "Roles and models reference the tool by this name"
            : "Roles reference this name. It can't be changed."
        }
        fieldClassName="max-w-sm"
      />
      <TextArea
        label="Description"
        rows={2}
        value={draft.description}
        onValueChange={(description) => onChange({ description })}
        error={errors.description}
        placeholder="Counts the words in a text."
        hint="Tells the model what the tool does and when to use it"
      />
      <SchemaField
        label="Parameters"
        hint="Input fields"
        itemName="field"
        error={errors.input_schema}
        value={draft.input_schema}
        onChange={(schema) => onChange({ input_schema: schema ?? NO_INPUT })}
        onErrorChange={onSchemaError}
      />
      <UncheckedNotes schema={draft.input_schema} label="Parameters" />
      <CodeArea
        label="Code"
        language="plain"
        value={draft.code}
        onValueChange={(code) => onChange({ code })}
        minLines={10}
        error={errors.code}
        hint="Async JavaScript function body: takes input, returns the result. No network, files or clock."
      />
      <div className="grid max-w-md grid-cols-2 gap-4">
        <Select
          label="Risk"
          options={RISKS}
          value={draft.risk}
          onValueChange={(risk) => onChange({ risk })}
        />
        <NumberField
          label="Timeout"
          unit="ms"
          min={100}
          max={10_000}
          step={100}
          value={draft.timeout_ms}
          onValueChange={(timeout_ms) => onChange({ timeout_ms: timeout_ms ?? 1_000 })}
        />
      </div>
    </>
  );
}

/** Runs the code in the form, even if it is not saved. */
function Trial({
  definition,
  schema,
  isEnabled,
  onTried,
}: {
  /** Absent while it is not valid. */
  definition: CustomToolDefinition | undefined;
  schema: CustomToolDefinition["input_schema"];
  isEnabled: boolean;
  onTried: () => void;
}) {
  const trial = useMutation(useTrpc().customTools.try.mutationOptions({ onError: () => {} }));
  const [took, setTook] = useState(0);
  return (
    <Panel title="Try it" description="Runs the current code, saved or not.">
      <div className="flex flex-col gap-4">
        <ArgumentForm
          key={JSON.stringify(schema)}
          schema={schema}
          submit="Run code"
          pending={trial.isPending}
          disabled={!isEnabled}
          onSubmit={(args) => {
            onTried();
            if (!definition) return;
            const began = performance.now();
            trial.mutate(
              { definition, args },
              { onSettled: () => setTook(Math.round(performance.now() - began)) },
            );
          }}
        />
        <div aria-live="polite">
          {trial.data && !trial.isPending ? <ToolResult output={trial.data} duration={took} /> : null}
          <ErrorText error={trial.error} />
        </div>
      </div>
    </Panel>
  );
}

function CodeIsOff() {
  return (
    <div role="status" className="flex gap-2.5 rounded-lg border border-line bg-sunken px-3 py-2.5 text-sm">
      <PowerOff aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-ink-3" />
      <p>
        <span className="font-medium">Code is disabled.</span> You can write and save tools. They run only
        after an admin sets <code className="font-mono text-xs">TROUPE_ENABLE_CODE=1</code> and restarts
        Troupe. Code then runs in a sandbox without network or files.
      </p>
    </div>
  );
}

function Versions({ saved, onRestore }: { saved: Saved; onRestore: (version: number) => void }) {
  const trpc = useTrpc();
  const versions = useQuery(trpc.customTools.versions.queryOptions({ name: saved.definition.name }));
  const older = versions.data?.filter(({ version }) => version !== saved.version) ?? [];
  if (older.length === 0) return null;
  return (
    <Panel flush title="Earlier versions">
      <ul aria-label="Earlier versions" className="divide-y divide-line">
        {older.map(({ version, created_at, definition }) => (
          <li key={version} className="flex items-center gap-3 px-4 py-2.5 text-[13px]">
            <History aria-hidden="true" className="size-4 text-ink-3" />
            <span className="font-medium">Version {version}</span>
            <span className="min-w-0 flex-1 truncate text-ink-2">
              <TimeText at={created_at} /> · {definition.description}
            </span>
            <Button size="sm" aria-label={`Restore version ${version}`} onClick={() => onRestore(version)}>
              Restore version
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Removed custom tools. */
export function CustomToolBin({ tools }: { tools: Answers["customTools"]["list"]["bin"] }) {
  const invalidate = useInvalidate("customTools", "tools");
  const restore = useMutation(useTrpc().customTools.restore.mutationOptions({ onSuccess: invalidate }));
  return (
    <Sheet name="Trash" isPlace>
      {tools.length === 0 ? (
        <EmptyState title="Trash is empty" />
      ) : (
        <ul
          aria-label="Deleted tools"
          className="divide-y divide-line rounded-xl border border-line bg-surface"
        >
          {tools.map(({ definition, deleted_at }) => (
            <li key={definition.name} className="flex items-center gap-3 px-4 py-3">
              <div className="min-w-0 flex-1">
                <p className="truncate font-mono text-[13px] font-medium">{definition.name}</p>
                <p className="truncate text-[13px] text-ink-2">
                  {definition.description}
                  {deleted_at === null ? null : (
                    <>
                      {" "}
                      · <TimeText at={deleted_at} />
                    </>
                  )}
                </p>
              </div>
              <Button
                size="sm"
                icon={<Undo2 aria-hidden="true" />}
                aria-label={`Restore ${definition.name}`}
                pending={restore.isPending}
                onClick={() => restore.mutate({ name: definition.name })}
              >
                Restore
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}
