"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { History, Pencil, Play, Plus, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { useCallableWorkflows } from "@/components/forms/use-callable-workflows";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Switch } from "@/components/ui/input/switch";
import { CopyButton } from "@/components/ui/json-view";
import { Menu } from "@/components/ui/overlay/menu";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { TRIGGER_KINDS } from "@/server/domain/trigger/trigger";
import { TestDialog } from "./test-dialog";
import { TriggerDialog } from "./trigger-dialog";
import { TriggerHistory } from "./trigger-history";
import { TRIGGER_LABELS, type Trigger, triggerText } from "./trigger-kinds";

export const useTriggers = (workflowId: string) =>
  useQuery(useTrpc().triggers.list.queryOptions({ workflow_id: workflowId }));

type What = "settings" | "history" | "test";
type Open = { what: "new"; kind: Trigger["kind"] } | { what: What; id: string } | null;

/** The triggers of a workflow and their actions. */
export function TriggerList({ workflowId, graph }: { workflowId: string; graph: WorkflowGraph }) {
  const { data: triggers, error } = useTriggers(workflowId);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const opened = open && open.what !== "new" ? triggers?.find(({ id }) => id === open.id) : undefined;
  const textOf = useTexts(triggers);
  return (
    <>
      <ErrorText error={error} />
      {triggers?.length ? (
        <ul aria-label="Triggers" className="flex flex-col gap-2">
          {triggers.map((trigger) => (
            <TriggerRow
              key={trigger.id}
              trigger={trigger}
              text={textOf(trigger)}
              onOpen={(what) => setOpen({ what, id: trigger.id })}
            />
          ))}
        </ul>
      ) : triggers ? (
        <p className="text-[13px] text-ink-2">
          Runs start when you press Run, by an API call or by a trigger. Triggers run the published version.
        </p>
      ) : null}
      <Menu
        trigger={
          <Button size="sm" icon={<Plus aria-hidden />} className="self-start">
            Add trigger
          </Button>
        }
        items={TRIGGER_KINDS.map((kind) => {
          const { label, icon: Icon } = TRIGGER_LABELS[kind];
          return { label, icon: <Icon />, onSelect: () => setOpen({ what: "new", kind }) };
        })}
      />
      {open?.what === "new" && (
        <TriggerDialog workflowId={workflowId} graph={graph} kind={open.kind} onClose={close} />
      )}
      {opened && open?.what === "settings" && (
        <TriggerDialog
          workflowId={workflowId}
          graph={graph}
          kind={opened.kind}
          trigger={opened}
          onClose={close}
        />
      )}
      {opened && open?.what === "history" && (
        <TriggerHistory trigger={opened} text={textOf(opened)} onClose={close} />
      )}
      {opened && open?.what === "test" && <TestDialog trigger={opened} graph={graph} onClose={close} />}
    </>
  );
}

/** A label for each trigger. Later triggers with the same text get a number. */
export function useTexts(triggers: readonly Trigger[] | undefined): (trigger: Trigger) => string {
  const list = useCallableWorkflows(triggers?.some(({ kind }) => kind === "workflow") ?? false);
  const texts = useMemo(() => {
    const names = new Map(list?.map(({ id, name }) => [id, name]));
    const count = new Map<string, number>();
    return new Map(
      triggers?.map((trigger) => {
        const text = triggerText(trigger, names);
        const number = (count.get(text) ?? 0) + 1;
        count.set(text, number);
        return [trigger.id, number === 1 ? text : `${text} (${number})`];
      }),
    );
  }, [triggers, list]);
  return ({ id }) => texts.get(id) ?? "";
}

interface RowProps {
  trigger: Trigger;
  text: string;
  onOpen: (what: What) => void;
}

function TriggerRow({ trigger, text, onOpen }: RowProps) {
  const trpc = useTrpc();
  const refresh = useInvalidate("triggers");
  const save = useMutation(trpc.triggers.save.mutationOptions({ onSettled: () => void refresh() }));
  const remove = useMutation(trpc.triggers.remove.mutationOptions({ onSettled: () => void refresh() }));
  const removal = useConfirm({
    danger: true,
    title: `Delete “${text}”?`,
    description: "It stops starting runs, and its history is deleted. Its runs stay.",
    confirm: "Delete trigger",
    onConfirm: () => remove.mutateAsync({ trigger_id: trigger.id }),
  });
  const { icon: Icon } = TRIGGER_LABELS[trigger.kind];
  return (
    <li className="flex items-center gap-2 rounded-lg border border-line px-2.5 py-2">
      <Icon aria-hidden className="size-4 shrink-0 text-ink-2" />
      <button
        type="button"
        className="min-w-0 flex-1 text-left text-[13px] hover:text-accent"
        onClick={() => onOpen("settings")}
      >
        <span className="line-clamp-2 font-medium [overflow-wrap:anywhere]">{text}</span>
        {trigger.disabled_reason ? (
          <span className="block text-xs text-failed">{trigger.disabled_reason}</span>
        ) : null}
      </button>
      {trigger.kind === "form" && trigger.url ? <CopyButton text={trigger.url} label="Copy address" /> : null}
      <Switch
        hideLabel
        label={`${text}: on`}
        checked={trigger.enabled}
        onCheckedChange={(enabled) => save.mutate({ trigger_id: trigger.id, enabled })}
      />
      <MoreMenu
        label={`More: ${text}`}
        items={[
          { label: "Test", icon: <Play />, onSelect: () => onOpen("test") },
          { label: "Edit", icon: <Pencil />, onSelect: () => onOpen("settings") },
          { label: "History", icon: <History />, onSelect: () => onOpen("history") },
          "separator",
          { label: "Delete", icon: <Trash2 />, danger: true, onSelect: removal.open },
        ]}
      />
      {removal.dialog}
    </li>
  );
}
