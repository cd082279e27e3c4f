"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { FormParts } from "@/components/forms/form-parts";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Form } from "@/components/ui/input/form";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { isOtherClient, MCP_FORM, type McpDraft, mcpErrors } from "@/server/domain/tool/mcp-form";
import type { McpListed } from "./mcp-word-text";
import { Sheet } from "./tool-detail";

export function NewMcpServer() {
  return (
    <Sheet name="New MCP server" isPlace>
      <p className="max-w-2xl text-ink-2">
        An MCP server provides another program's tools. Agents can't call a tool until you review and approve
        it.
      </p>
      <McpForm saved={null} />
      <p className="max-w-2xl text-[13px] text-ink-3">
        You can add only HTTP servers here. An admin must add servers that run as a process to the tools file.
      </p>
    </Sheet>
  );
}

/** The address of a server, and how to sign in. */
export function McpForm({ saved, onDone }: { saved: McpListed | null; onDone?: () => void }) {
  const trpc = useTrpc();
  const router = useRouter();
  const invalidate = useInvalidate("mcp", "tools");
  const [draft, setDraft] = useState<McpDraft>(() => startOf(saved));
  const [tried, setTried] = useState(false);
  const errors = mcpErrors(draft, saved);
  const shown = tried ? errors : {};
  const add = useMutation(
    trpc.mcp.add.mutationOptions({
      onError: () => {},
      onSuccess: (server) => {
        void invalidate();
        toast(savedMessage(server), { tone: server.state === "connected" ? "success" : "plain" });
        if (onDone) onDone();
        else router.replace(`/tools?server=${encodeURIComponent(server.name)}`);
      },
    }),
  );
  const submit = () => {
    setTried(true);
    if (Object.keys(errors).length > 0) return;
    const header = draft.authorization.trim();
    add.mutate(
      defined({
        name: draft.name.trim(),
        url: draft.url.trim(),
        authorization: header || (draft.drops ? null : undefined),
        client: isOtherClient(draft, saved) ? clientOf(draft) : undefined,
      }),
    );
  };
  return (
    <Form
      aria-label={saved ? `Edit ${saved.name}` : "New MCP server"}
      className="flex max-w-xl flex-col gap-4"
      onSubmit={submit}
    >
      <FormParts
        parts={saved ? MCP_FORM.filter((part) => !("key" in part) || part.key !== "name") : MCP_FORM}
        value={draft}
        onChange={setDraft}
        now={{
          name: { error: shown.name },
          url: { error: shown.url, hint: saved ? OTHER_ADDRESS : undefined },
          authorization: {
            placeholder: saved?.has_authorization ? storedLabel(saved.authorization_hint) : undefined,
          },
          client_id: { error: shown.client_id },
          client_secret: {
            error: shown.client_secret,
            placeholder: saved?.sign_in?.has_client_secret ? "Stored" : undefined,
          },
          private_key: { placeholder: saved?.sign_in?.has_private_key ? "Stored" : undefined },
        }}
        slots={{
          stored:
            saved?.has_authorization && draft.authorization === "" ? (
              <Checkbox
                label="Remove stored authorization"
                checked={draft.drops}
                onCheckedChange={(drops) => setDraft({ ...draft, drops })}
              />
            ) : null,
          redirect: <RedirectNote />,
        }}
      />
      <ErrorText error={add.error} />
      <div className="flex gap-2">
        <Button type="submit" variant="primary" pending={add.isPending}>
          {saved ? "Save and connect" : "Add and connect"}
        </Button>
        {onDone ? <Button onClick={onDone}>Cancel</Button> : null}
      </div>
    </Form>
  );
}

function savedMessage({ name, state }: Pick<McpListed, "name" | "state">): string {
  if (state === "connected") return `Connected to “${name}”`;
  return `Saved “${name}”; ${state === "needs_sign_in" ? "sign in to connect" : "not connected yet"}`;
}

const OTHER_ADDRESS = "A different URL counts as a new server, so you must approve every tool again";

const storedLabel = (ending: string | null | undefined) => `Stored${ending ? `, ends in ${ending}` : ""}`;

const startOf = (saved: McpListed | null): McpDraft => ({
  name: saved?.name ?? "",
  url: saved?.where ?? "",
  authorization: "",
  drops: false,
  client_id: saved?.sign_in?.client_id ?? "",
  client_secret: "",
  as_program: saved?.sign_in?.as_program ?? false,
  private_key: "",
});

const clientOf = ({ client_id, client_secret, private_key, as_program }: McpDraft) =>
  client_id.trim() === ""
    ? null
    : {
        client_id: client_id.trim(),
        client_secret: client_secret.trim() || null,
        private_key: (as_program && private_key.trim()) || null,
        as_program,
      };

/** The redirect address to register a client with. */
function RedirectNote() {
  return (
    <p className="text-[13px] text-ink-3">
      Most servers don't need this: Troupe registers automatically. If you register a client, use this
      redirect URL:{" "}
      <span className="font-mono text-xs [overflow-wrap:anywhere]">
        {typeof window === "undefined" ? "" : window.location.origin}/tools/sign-in
      </span>
    </p>
  );
}
