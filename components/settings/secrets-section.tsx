"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ListedSecret, SecretForm } from "@/components/forms/secret-form";
import { toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Panel } from "@/components/ui/panel";
import { toast } from "@/components/ui/toasts";

/** Named secrets, which HTTP requests of workflows use. */
export function SecretsSection() {
  const secrets = useQuery(useTrpc().secrets.list.queryOptions());
  const addition = useDialog((close) => <SecretForm saved={null} onClose={close} />);
  return (
    <Panel
      flush
      title="Secrets"
      description="Keys that HTTP requests of workflows use by name. Values are never shown again."
      actions={
        <Button icon={<Plus aria-hidden="true" />} onClick={addition.open}>
          Add secret
        </Button>
      }
    >
      {secrets.error ? (
        <p className="p-4 text-[13px] text-failed">{toApiError(secrets.error).message}</p>
      ) : secrets.data?.length ? (
        <ul aria-label="Secrets" className="divide-y divide-line">
          {secrets.data.map((secret) => (
            <SecretRow key={secret.name} secret={secret} />
          ))}
        </ul>
      ) : (
        <p className="px-4 py-4 text-[13px] text-ink-2">
          {secrets.isPending ? "Loading…" : "No secrets yet."}
        </p>
      )}
      {addition.dialog}
    </Panel>
  );
}

function SecretRow({ secret }: { secret: ListedSecret }) {
  const { name, hint, hosts, workflows, used_by } = secret;
  const refresh = useInvalidate("secrets");
  const remove = useMutation(
    useTrpc().secrets.remove.mutationOptions({
      onSuccess: () => toast(`Deleted “${name}”`),
      onSettled: () => void refresh(),
    }),
  );
  const editing = useDialog((close) => <SecretForm saved={secret} onClose={close} />);
  const users = used_by.map((workflow) => `“${workflow.name}”`).join(", ");
  const deletion = useConfirm({
    danger: true,
    title: `Delete “${name}”?`,
    description: `${users ? `Requests in ${users} will fail. ` : "No workflow uses it. "}You can't undo this.`,
    confirm: "Delete secret",
    onConfirm: () => remove.mutateAsync({ name }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
      <span className="min-w-0 flex-1 basis-40">
        <span className="block truncate font-mono text-[13px] font-medium">{name}</span>
        <span className="block text-[13px] text-ink-2 [overflow-wrap:anywhere]">
          {hint ? `…${hint}, for ` : "For "}
          {hosts.join(", ")}
          {workflows === null
            ? ""
            : workflows.length === 1
              ? ", in 1 workflow"
              : `, in ${workflows.length} workflows`}
        </span>
      </span>
      <Button size="sm" variant="ghost" aria-label={`Edit ${name}`} onClick={editing.open}>
        Edit
      </Button>
      <Button size="sm" variant="ghost" aria-label={`Delete ${name}`} onClick={deletion.open}>
        Delete
      </Button>
      {editing.dialog}
      {deletion.dialog}
    </li>
  );
}
