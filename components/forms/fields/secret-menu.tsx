"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/overlay/menu";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { secretText } from "@/server/domain/tool/secret";
import { SecretForm } from "../secret-form";

/** A button with a key icon that lists the secrets; calls back with a reference to the chosen or added one. */
export function SecretMenu({ label, onChoose }: { label: string; onChoose: (reference: string) => void }) {
  const secrets = useQuery(useTrpc().secrets.list.queryOptions());
  const addition = useDialog((close) => (
    <SecretForm saved={null} onSaved={(name) => onChoose(secretText(name))} onClose={close} />
  ));
  return (
    <>
      <Menu
        trigger={<IconButton label={label} size="sm" icon={<KeyRound aria-hidden />} />}
        align="end"
        items={[
          ...(secrets.data ?? []).map(({ name, hosts }) => ({
            label: name,
            hint: hosts.join(", "),
            onSelect: () => onChoose(secretText(name)),
          })),
          ...(secrets.data?.length ? (["separator"] as const) : []),
          { label: "Add secret…", onSelect: addition.open },
        ]}
      />
      {addition.dialog}
    </>
  );
}
