"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { CopyButton } from "@/components/ui/json-view";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";

type MailServer = NonNullable<Answers["notices"]["get"]["email"]>;

function Fault({ error }: { error: unknown }) {
  return error ? (
    <p role="alert" className="text-[13px] text-failed">
      {toApiError(error).message}
    </p>
  ) : null;
}

/** Asks for the address; shows once what notices are signed with. */
export function WebhookDialog({ isNew, onClose }: { isNew: boolean; onClose: () => void }) {
  const [url, setUrl] = useState("");
  const save = useMutation(useTrpc().notices.saveWebhook.mutationOptions());
  const secret = save.data?.signing_secret;
  if (secret)
    return (
      <Dialog
        open
        sticky
        onOpenChange={onClose}
        title="Copy the signing secret now"
        description="It is not shown again. With it the receiver checks the header Troupe-Signature: t is the time in seconds, v1 the HMAC-SHA-256 of “t.body” in hex."
        footer={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
          <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{secret}</code>
          <CopyButton text={secret} label="Copy the signing secret" />
        </div>
      </Dialog>
    );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={isNew ? "Notices by webhook" : "Change the webhook"}
      footer={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="primary" type="submit" form="webhook" pending={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="webhook"
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ is_on: true, url });
        }}
      >
        <TextField
          label="Address"
          type="url"
          autoFocus
          value={url}
          onValueChange={setUrl}
          placeholder="https://example.org/hooks/…"
          hint="Each notice is posted there as JSON; chat services that read “text” show it. The address is kept encrypted, as it may hold a key, and is not shown again."
        />
        <Fault error={save.error} />
      </form>
    </Dialog>
  );
}

const PORTS = { tls: 465, starttls: 587, none: 25 } as const;

/** Asks for the mail server, and for who gets the mails. The password goes in and never comes out. */
export function EmailDialog({ saved, onClose }: { saved: MailServer | null; onClose: () => void }) {
  const [server, setServer] = useState<Omit<MailServer, "has_password">>(
    saved ?? { is_on: true, host: "", port: 587, security: "starttls", user: "", from: "", to: [] },
  );
  const [to, setTo] = useState(saved?.to.join(", ") ?? "");
  const [password, setPassword] = useState("");
  const save = useMutation(useTrpc().notices.saveEmail.mutationOptions({ onSuccess: onClose }));
  const change = (part: Partial<Omit<MailServer, "has_password">>) => setServer({ ...server, ...part });
  const submit = () =>
    save.mutate({
      is_on: server.is_on,
      host: server.host,
      port: server.port,
      security: server.security,
      user: server.user,
      from: server.from,
      to: to.split(/[\s,;]+/).filter(Boolean),
      ...(password === "" ? (server.user === "" ? { password: null } : {}) : { password }),
    });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={saved ? "Change the mail server" : "Notices by e-mail"}
      footer={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="primary" type="submit" form="email" pending={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="email"
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_7rem]">
          <TextField
            label="Mail server"
            autoFocus
            value={server.host}
            onValueChange={(host) => change({ host })}
            placeholder="mail.example.org"
          />
          <NumberField
            label="Port"
            value={server.port}
            min={1}
            max={65_535}
            format={{ useGrouping: false }}
            onValueChange={(port) => change({ port: port ?? PORTS[server.security] })}
          />
        </div>
        <Select
          label="Connection"
          value={server.security}
          onValueChange={(security: MailServer["security"]) => change({ security, port: PORTS[security] })}
          options={[
            { value: "starttls", label: "STARTTLS", hint: "Usual at port 587" },
            { value: "tls", label: "TLS", hint: "Usual at port 465" },
            { value: "none", label: "Not protected", hint: "Only without a password" },
          ]}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Name there"
            autoComplete="off"
            value={server.user}
            onValueChange={(user) => change({ user })}
          />
          <TextField
            label="Password"
            type="password"
            autoComplete="new-password"
            value={password}
            onValueChange={setPassword}
            placeholder={saved?.has_password ? "Stays as it is" : ""}
          />
        </div>
        <TextField
          label="From"
          type="email"
          value={server.from}
          onValueChange={(from) => change({ from })}
          placeholder="troupe@example.org"
        />
        <TextField
          label="To"
          value={to}
          onValueChange={setTo}
          placeholder="ann@example.org, team@example.org"
          hint="Up to 20 addresses. Whoever gets a mail still has to sign in to answer."
        />
        <Fault error={save.error} />
      </form>
    </Dialog>
  );
}
