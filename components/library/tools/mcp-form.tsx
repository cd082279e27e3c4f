"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import type { McpListed } from "./mcp-listed";
import { Sheet } from "./tool-detail";

export function NewMcpServer() {
  return (
    <Sheet name="New MCP server" isPlace>
      <p className="max-w-2xl text-ink-2">
        An MCP server offers tools of another program. Troupe reads what it offers; nothing of it can be
        called before you have looked at it and approved it.
      </p>
      <McpForm saved={null} />
      <p className="max-w-2xl text-[13px] text-ink-3">
        Only servers that are reached over HTTP can be added here. Servers that are started as a process are
        declared in the tools file, by whoever runs this installation.
      </p>
    </Sheet>
  );
}

/** Where a server is and how to sign in there. */
export function McpForm({ saved, onDone }: { saved: McpListed | null; onDone?: () => void }) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [name, setName] = useState(saved?.name ?? "");
  const [url, setUrl] = useState(saved?.where ?? "");
  const [authorization, setAuthorization] = useState("");
  const [drops, setDrops] = useState(false);
  const [clientId, setClientId] = useState(saved?.sign_in?.client_id ?? "");
  const [clientSecret, setClientSecret] = useState("");
  const [privateKey, setPrivateKey] = useState("");
  const [asProgram, setAsProgram] = useState(saved?.sign_in?.as_program ?? false);
  const [tried, setTried] = useState(false);
  const nameFault = !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name.trim())
    ? "Use letters, digits, _ and - and start with a letter."
    : undefined;
  const urlFault = !/^https?:\/\/\S+$/.test(url.trim())
    ? "Enter an address that begins with https:// or http://"
    : undefined;
  const hasProof = clientSecret.trim() !== "" || privateKey.trim() !== "";
  const clientFault =
    hasProof && clientId.trim() === "" ? "Enter the client ID that it belongs to." : undefined;
  // With another address nothing is kept.
  const before = saved?.where === url.trim() ? (saved.sign_in?.client_id ?? "") : "";
  const wasProgram = saved?.sign_in?.as_program ?? false;
  const isOtherClient = clientId.trim() !== before || hasProof || (before !== "" && asProgram !== wasProgram);
  const proofFault =
    isOtherClient && asProgram && clientId.trim() !== "" && !hasProof
      ? "Enter a client secret or a private key: without a person, that is what it is known by."
      : undefined;
  const add = useMutation(
    trpc.mcp.add.mutationOptions({
      onError: () => {},
      onSuccess: (server) => {
        void queryClient.invalidateQueries(trpc.mcp.pathFilter());
        void queryClient.invalidateQueries(trpc.tools.pathFilter());
        toast(
          server.state === "connected"
            ? `Connected to “${server.name}”`
            : server.state === "needs_sign_in"
              ? `Saved “${server.name}”; now sign in`
              : `Saved “${server.name}”; it is not connected yet`,
          {
            tone: server.state === "connected" ? "success" : "plain",
          },
        );
        if (onDone) onDone();
        else router.replace(`/tools?server=${encodeURIComponent(server.name)}`);
      },
    }),
  );
  const submit = () => {
    setTried(true);
    if (nameFault || urlFault || clientFault || proofFault) return;
    const header = authorization.trim();
    add.mutate({
      name: name.trim(),
      url: url.trim(),
      ...(header ? { authorization: header } : drops ? { authorization: null } : {}),
      ...(isOtherClient
        ? { client: clientOf(clientId, clientSecret, asProgram ? privateKey : "", asProgram) }
        : {}),
    });
  };
  return (
    <form
      aria-label={saved ? `Change ${saved.name}` : "New MCP server"}
      noValidate
      className="flex max-w-xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {saved ? null : (
        <TextField
          label="Name"
          value={name}
          onValueChange={setName}
          placeholder="notes"
          hint="Roles name its tools by it: mcp:notes/search"
          error={tried ? nameFault : undefined}
        />
      )}
      <TextField
        label="Address"
        inputMode="url"
        value={url}
        onValueChange={setUrl}
        placeholder="https://example.com/mcp"
        error={tried ? urlFault : undefined}
        hint={
          saved
            ? "With another address it counts as another server: every tool has to be approved again."
            : undefined
        }
      />
      <TextField
        label="Authorization"
        type="password"
        autoComplete="off"
        aside="Optional"
        value={authorization}
        onValueChange={setAuthorization}
        placeholder={
          saved?.has_authorization
            ? `Stored${saved.authorization_hint ? `, ends in ${saved.authorization_hint}` : ""}`
            : "Bearer …"
        }
        hint="The whole value of the Authorization header, where the server wants a key. Leave it empty to sign in with an account."
      />
      {saved?.has_authorization && authorization === "" ? (
        <Checkbox label="Remove the stored authorization" checked={drops} onCheckedChange={setDrops} />
      ) : null}
      <details className="text-[13px]" open={clientId !== "" || undefined}>
        <summary className="cursor-pointer text-ink-2">Signing in with a client ID of your own</summary>
        <div className="mt-3 flex flex-col gap-4">
          <p className="text-ink-3">
            Most servers need none: Troupe registers by itself. Where you register it, the redirect address is{" "}
            <span className="font-mono text-xs [overflow-wrap:anywhere]">
              {typeof window === "undefined" ? "" : window.location.origin}/tools/sign-in
            </span>
          </p>
          <TextField
            label="Client ID"
            autoComplete="off"
            aside="Optional"
            value={clientId}
            onValueChange={setClientId}
            error={tried ? clientFault : undefined}
          />
          <TextField
            label="Client secret"
            type="password"
            autoComplete="off"
            aside="Optional"
            value={clientSecret}
            onValueChange={setClientSecret}
            placeholder={saved?.sign_in?.has_client_secret ? "Stored" : ""}
            hint="Stored sealed and never shown again. Another client ends the sign-in."
            error={tried ? proofFault : undefined}
          />
          <Checkbox
            label="No person signs in"
            hint="The client itself is granted access (client credentials), by its secret or its private key."
            checked={asProgram}
            onCheckedChange={setAsProgram}
          />
          {asProgram ? (
            <TextArea
              label="Private key"
              aside="Optional"
              rows={3}
              spellCheck={false}
              autoComplete="off"
              value={privateKey}
              onValueChange={setPrivateKey}
              placeholder={saved?.sign_in?.has_private_key ? "Stored" : "-----BEGIN PRIVATE KEY-----"}
              hint="Instead of a secret: in PEM, without a passphrase. Stored sealed and never shown again."
            />
          ) : null}
        </div>
      </details>
      {add.error ? (
        <p role="alert" className="text-[13px] text-failed">
          {toApiError(add.error).message}
        </p>
      ) : null}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" pending={add.isPending}>
          {saved ? "Save and connect" : "Add and connect"}
        </Button>
        {onDone ? <Button onClick={onDone}>Cancel</Button> : null}
      </div>
    </form>
  );
}

const clientOf = (id: string, secret: string, key: string, as_program: boolean) =>
  id.trim() === ""
    ? null
    : {
        client_id: id.trim(),
        client_secret: secret.trim() || null,
        private_key: key.trim() || null,
        as_program,
      };
