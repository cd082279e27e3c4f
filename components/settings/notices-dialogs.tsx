"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { type Answers, useTrpc } from "@/components/trpc";
import type { FormPart } from "@/server/domain/base/form";
import { SecretDialog } from "./secret-dialog";

type MailServer = Omit<NonNullable<Answers["notices"]["get"]["email"]>, "has_password">;

const WEBHOOK_FORM: readonly FormPart<{ url: string }>[] = [
  {
    key: "url",
    label: "Address",
    as: "text",
    keyboard: "url",
    empty: "",
    placeholder: "https://example.org/hooks/…",
    hint: "Each notice is posted there as JSON; chat services that read “text” show it. The address is kept encrypted, as it may hold a key, and is not shown again.",
  },
];

/** Asks for the address; shows once what notices are signed with. */
export function WebhookDialog({ isNew, onClose }: { isNew: boolean; onClose: () => void }) {
  const [draft, setDraft] = useState({ url: "" });
  const save = useMutation(useTrpc().notices.saveWebhook.mutationOptions());
  const secret = save.data?.signing_secret;
  if (secret)
    return (
      <SecretDialog
        what="signing secret"
        secret={secret}
        description="With it the receiver checks the header Troupe-Signature: t is the time in seconds, v1 the HMAC-SHA-256 of “t.body” in hex."
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={isNew ? "Notices by webhook" : "Change the webhook"}
      submit="Save"
      mutation={save}
      onSubmit={() => save.mutate({ is_on: true, ...draft })}
      onClose={onClose}
    >
      <FormParts parts={WEBHOOK_FORM} value={draft} onChange={setDraft} />
    </FormDialog>
  );
}

const PORTS = { tls: 465, starttls: 587, none: 25 } as const;

interface MailDraft extends Omit<MailServer, "to"> {
  to: string;
  password: string;
}

const MAIL_FORM: readonly FormPart<MailDraft>[] = [
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "host", label: "Mail server", as: "text", empty: "", placeholder: "mail.example.org" },
      { key: "port", label: "Port", as: "number", min: 1, max: 65_535 },
    ],
  },
  {
    key: "security",
    label: "Connection",
    as: "choice",
    options: [
      { value: "starttls", label: "STARTTLS", hint: "Usual at port 587" },
      { value: "tls", label: "TLS", hint: "Usual at port 465" },
      { value: "none", label: "Not protected", hint: "Only without a password" },
    ],
  },
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "user", label: "Name there", as: "text", empty: "" },
      { key: "password", label: "Password", as: "secret", empty: "" },
    ],
  },
  { key: "from", label: "From", as: "text", keyboard: "email", empty: "", placeholder: "troupe@example.org" },
  {
    key: "to",
    label: "To",
    as: "text",
    empty: "",
    placeholder: "ann@example.org, team@example.org",
    hint: "Up to 20 addresses. Whoever gets a mail still has to sign in to answer.",
  },
];

/** Asks for the mail server, and for who gets the mails. The password goes in and never comes out. */
export function EmailDialog({
  saved,
  onClose,
}: {
  saved: Answers["notices"]["get"]["email"];
  onClose: () => void;
}) {
  const [draft, setDraft] = useState<MailDraft>(() => {
    const { has_password: _kept, to, ...server } = saved ?? NEW_SERVER;
    return { ...server, to: to.join(", "), password: "" };
  });
  const save = useMutation(useTrpc().notices.saveEmail.mutationOptions({ onSuccess: onClose }));
  const { password, to, ...server } = draft;
  return (
    <FormDialog
      title={saved ? "Change the mail server" : "Notices by e-mail"}
      submit="Save"
      mutation={save}
      onSubmit={() =>
        save.mutate({
          ...server,
          to: to.split(/[\s,;]+/).filter(Boolean),
          ...(password === "" ? (server.user === "" ? { password: null } : {}) : { password }),
        })
      }
      onClose={onClose}
    >
      <FormParts
        parts={MAIL_FORM}
        value={draft}
        onChange={(next) =>
          setDraft(
            next.security === draft.security && next.port ? next : { ...next, port: PORTS[next.security] },
          )
        }
        now={{ password: { placeholder: saved?.has_password ? "Stays as it is" : "" } }}
      />
    </FormDialog>
  );
}

const NEW_SERVER: MailServer & { has_password: boolean } = {
  is_on: true,
  host: "",
  port: PORTS.starttls,
  security: "starttls",
  user: "",
  from: "",
  to: [],
  has_password: false,
};
