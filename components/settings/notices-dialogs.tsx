"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { z } from "zod";
import { fieldErrors } from "@/components/forms/field-errors";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { SecretDialog } from "@/components/forms/secret-dialog";
import { type Answers, useTrpc } from "@/components/trpc";
import type { FormPart } from "@/server/domain/base/form";
import { EmailSettings, WebhookUrl } from "@/server/domain/base/notification-targets";

type MailServer = Omit<NonNullable<Answers["notices"]["get"]["email"]>, "has_password">;

const WEBHOOK_FORM: readonly FormPart<{ url: string }>[] = [
  {
    key: "url",
    label: "URL",
    as: "text",
    keyboard: "url",
    empty: "",
    placeholder: "https://example.org/hooks/…",
    hint: "Troupe posts JSON with a “text” field. Stored encrypted, never shown again.",
  },
];

const Webhook = z.object({ url: WebhookUrl });

/** Asks for the URL, then shows the signing secret once. */
export function WebhookDialog({ isNew, onClose }: { isNew: boolean; onClose: () => void }) {
  const [draft, setDraft] = useState({ url: "" });
  const [wasTried, setTried] = useState(false);
  const errors = fieldErrors(Webhook, draft);
  const save = useMutation(useTrpc().notices.saveWebhook.mutationOptions());
  const secret = save.data?.signing_secret;
  if (secret)
    return (
      <SecretDialog
        what="signing secret"
        secret={secret}
        description="Receivers use it to verify the Troupe-Signature header: t is the Unix time in seconds, and v1 is the hex HMAC-SHA-256 of “t.body”."
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={isNew ? "Add webhook" : "Edit webhook"}
      submit="Save"
      mutation={save}
      onSubmit={() => {
        setTried(true);
        if (Object.keys(errors).length === 0) save.mutate({ is_on: true, ...draft });
      }}
      onClose={onClose}
    >
      <FormParts
        parts={WEBHOOK_FORM}
        value={draft}
        onChange={setDraft}
        errors={wasTried ? errors : undefined}
      />
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
    label: "Encryption",
    as: "choice",
    options: [
      { value: "starttls", label: "STARTTLS", hint: "Usually port 587" },
      { value: "tls", label: "TLS", hint: "Usually port 465" },
      { value: "none", label: "Unencrypted", hint: "Only without a password" },
    ],
  },
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "user", label: "Username", as: "text", empty: "" },
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
    hint: "Up to 20 addresses. Recipients must sign in to answer.",
  },
];

/** Asks for the mail server and recipients. The password is write-only. */
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
  const [wasTried, setTried] = useState(false);
  const { password, to, ...server } = draft;
  const entered = {
    ...server,
    to: to.split(/[\s,;]+/).filter(Boolean),
    ...(password === "" ? (server.user === "" ? { password: null } : {}) : { password }),
  };
  const errors = fieldErrors(EmailSettings, entered);
  return (
    <FormDialog
      title={saved ? "Edit mail server" : "Add email notifications"}
      submit="Save"
      mutation={save}
      onSubmit={() => {
        setTried(true);
        if (Object.keys(errors).length === 0) save.mutate(entered);
      }}
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
        now={{ password: { placeholder: saved?.has_password ? "Unchanged" : "" } }}
        errors={wasTried ? errors : undefined}
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
