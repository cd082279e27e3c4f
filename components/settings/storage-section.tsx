"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { type Answers, toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Form } from "@/components/ui/input/form";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { Panel, Section } from "@/components/ui/panel";
import { toast } from "@/components/ui/toasts";
import { withoutKey } from "@/server/domain/base/objects";

type Storage = Answers["storage"]["get"];
type Rules = Storage["rules"];
type Rule = Pick<Rules, "days" | "runs">;

/** The size of the data folder, and the retention of finished runs. */
export function StorageSection() {
  const storage = useQuery(useTrpc().storage.get.queryOptions());
  return (
    <Panel title="Storage" description="Disk usage and run retention.">
      {storage.error ? (
        <p className="text-[13px] text-failed">{toApiError(storage.error).message}</p>
      ) : storage.data ? (
        <div className="flex flex-col gap-6">
          <Sizes sizes={storage.data.sizes} />
          {/* Rules saved elsewhere reset the form. */}
          <Keeping key={JSON.stringify(storage.data.rules)} {...storage.data} />
        </div>
      ) : (
        <p className="text-[13px] text-ink-2">Loading…</p>
      )}
    </Panel>
  );
}

function Sizes({ sizes }: { sizes: Storage["sizes"] }) {
  const { runs, copies } = sizes;
  const rows: [string, string][] = [
    ["Database", bytes(sizes.database)],
    ["Including run files", bytes(sizes.files)],
    [sizes.can_shrink ? "Free (being reclaimed)" : "Free (reusable)", bytes(sizes.free)],
    ["Write-ahead log (WAL)", bytes(sizes.wal)],
    [
      "Pre-upgrade backups",
      copies.count === 0 ? "None" : `${bytes(copies.bytes)} in ${countOf(copies.count, "file")}`,
    ],
    [
      "Runs",
      [
        `${runs.finished} finished`,
        `${runs.other} running`,
        ...(runs.held > 0 ? [`${runs.held} quarantined`] : []),
      ].join(", "),
    ],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-[13px]">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-2">{name}</dt>
          <dd className="tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Keeping({ rules, outdated }: { rules: Rules; outdated: number }) {
  const trpc = useTrpc();
  const refresh = useInvalidate("storage");
  const [draft, setDraft] = useState<Rules>(rules);
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const save = useMutation(
    trpc.storage.save.mutationOptions({
      onSuccess: ({ outdated: count }) => {
        toast(
          count > 0
            ? `Saved. ${countOf(count, "run")} will be deleted within minutes.`
            : "Saved. No older runs to delete.",
        );
        void refresh();
      },
    }),
  );
  const sweep = useMutation(
    trpc.storage.sweep.mutationOptions({
      onSuccess: ({ outdated: count }) => toast(`Deleting ${countOf(count, "run")}`),
      onSettled: () => void refresh(),
    }),
  );
  const sweeping = useConfirm({
    danger: true,
    title: `Delete ${countOf(outdated, "run")}?`,
    description: "Timelines, files and memories are deleted too. You can't undo this.",
    confirm: "Delete older runs",
    onConfirm: () => sweep.mutateAsync(),
  });
  const nameOf = (id: string) => workflows.data?.find((one) => one.id === id)?.name ?? "Deleted workflow";
  const setOwn = (id: string, rule: Rule | null) => {
    const workflows = rule ? { ...draft.workflows, [id]: rule } : withoutKey(draft.workflows, id);
    setDraft({ ...draft, workflows });
  };
  const addable = (workflows.data ?? []).filter(({ id }) => !(id in draft.workflows));
  const isChanged = JSON.stringify(draft) !== JSON.stringify(rules);

  return (
    <Form className="flex flex-col gap-5" onSubmit={() => save.mutate(draft)}>
      <Section title="Run retention">
        <RuleFields rule={draft} onChange={(rule) => setDraft({ ...draft, ...rule })} />
        <p className="text-xs text-ink-2">
          Finished runs over a limit are deleted with their files and memories. Running and quarantined runs
          are kept. Leave empty for no limit.
        </p>
      </Section>
      {Object.entries(draft.workflows).map(([id, rule]) => (
        <OwnRule key={id} name={nameOf(id)} rule={rule} onChange={(next) => setOwn(id, next)} />
      ))}
      {addable.length > 0 ? (
        <Select
          label="Workflow override"
          placeholder="Choose a workflow…"
          value={null}
          options={addable.map(({ id, name }) => ({ value: id, label: name, icon: <Plus aria-hidden /> }))}
          onValueChange={(id) => setOwn(id, { days: null, runs: null })}
          fieldClassName="max-w-80"
        />
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={!isChanged} pending={save.isPending}>
          Save retention
        </Button>
        <Button variant="danger" disabled={outdated === 0 || isChanged} onClick={sweeping.open}>
          {outdated === 0 ? "No older runs to delete" : `Delete ${countOf(outdated, "older run")} now`}
        </Button>
      </div>
      {sweeping.dialog}
    </Form>
  );
}

/** The retention rule of one workflow; `onChange` with null removes it. */
function OwnRule({
  name,
  rule,
  onChange,
}: {
  name: string;
  rule: Rule;
  onChange: (rule: Rule | null) => void;
}) {
  return (
    <Section
      title={`Override for ${name}`}
      actions={
        <IconButton
          label={`Remove override for ${name}`}
          size="sm"
          icon={<X aria-hidden />}
          onClick={() => onChange(null)}
        />
      }
    >
      <RuleFields rule={rule} onChange={onChange} />
    </Section>
  );
}

function RuleFields({ rule, onChange }: { rule: Rule; onChange: (rule: Rule) => void }) {
  return (
    <div className="flex flex-wrap gap-3">
      <NumberField
        label="Keep for"
        value={rule.days}
        min={1}
        max={36_500}
        placeholder="No limit"
        unit="days"
        onValueChange={(days) => onChange({ days, runs: rule.runs })}
        fieldClassName="min-w-44 flex-1"
      />
      <NumberField
        label="Max runs"
        value={rule.runs}
        min={1}
        max={10_000_000}
        placeholder="No limit"
        unit="runs"
        onValueChange={(runs) => onChange({ days: rule.days, runs })}
        fieldClassName="min-w-44 flex-1"
      />
    </div>
  );
}

function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(Math.floor(Math.log2(count) / 10), units.length);
  return `${(count / 1024 ** power).toFixed(power === 1 ? 0 : 1)} ${units[power - 1]}`;
}
