import { defined } from "@/server/domain/base/defined";
import type { FormPart } from "@/server/domain/base/form";

/** An MCP server while its form is filled in; what is stored of secrets never comes out. */
export interface McpDraft {
  name: string;
  url: string;
  authorization: string;
  /** The stored authorization is to go. */
  drops: boolean;
  client_id: string;
  client_secret: string;
  /** The client itself is granted access, without a person who signs in. */
  as_program: boolean;
  private_key: string;
}

/** The form of an MCP server. Slots: its name while it is new, what becomes of a stored secret, where to register. */
export const MCP_FORM: readonly FormPart<McpDraft, "stored" | "redirect">[] = [
  {
    key: "name",
    label: "Name",
    as: "text",
    placeholder: "notes",
    hint: "Prefix of its tools in roles, such as mcp:notes/search",
    empty: "",
  },
  {
    key: "url",
    label: "URL",
    as: "text",
    keyboard: "url",
    placeholder: "https://example.com/mcp",
    empty: "",
  },
  {
    key: "authorization",
    label: "Authorization",
    as: "secret",
    aside: "Optional",
    placeholder: "Bearer …",
    hint: "Full header value, if required; leave empty to sign in with an account",
    empty: "",
  },
  { slot: "stored" },
  {
    as: "box",
    title: "Custom OAuth client",
    isOpen: ({ client_id }) => client_id !== "",
    parts: [
      { slot: "redirect" },
      { key: "client_id", label: "Client ID", as: "text", aside: "Optional", empty: "" },
      {
        key: "client_secret",
        label: "Client secret",
        as: "secret",
        aside: "Optional",
        hint: "Stored encrypted and never shown again. Changing the client ends the sign-in.",
        empty: "",
      },
      {
        key: "as_program",
        label: "Use client credentials",
        as: "check",
        hint: "No user signs in: the client authenticates with its secret or private key",
      },
      {
        key: "private_key",
        label: "Private key",
        as: "multiline",
        aside: "Optional",
        isCode: true,
        hint: "Instead of a secret: PEM, no passphrase. Stored encrypted, never shown again.",
        placeholder: "-----BEGIN PRIVATE KEY-----",
        empty: "",
        showIf: ({ as_program }) => as_program,
      },
    ],
  },
];

/** The known settings of the server that the form asks for. */
export interface McpBefore {
  where: string;
  sign_in?: { client_id?: string | null | undefined; as_program: boolean } | null | undefined;
}

/** Whether the form names another client than the one that is kept. With another address none is kept. */
export function isOtherClient(draft: McpDraft, saved: McpBefore | null): boolean {
  const before = saved?.where === draft.url.trim() ? (saved.sign_in?.client_id ?? "") : "";
  const wasProgram = saved?.sign_in?.as_program ?? false;
  return (
    draft.client_id.trim() !== before || hasProof(draft) || (before !== "" && draft.as_program !== wasProgram)
  );
}

const hasProof = ({ client_secret, private_key }: McpDraft) =>
  client_secret.trim() !== "" || private_key.trim() !== "";

/** What is wrong, by field; empty where it can be saved. */
export function mcpErrors(
  draft: McpDraft,
  saved: McpBefore | null,
): Partial<Record<"name" | "url" | "client_id" | "client_secret", string>> {
  const hasClient = draft.client_id.trim() !== "";
  return {
    ...defined({
      name: /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(draft.name.trim())
        ? undefined
        : "Use letters, digits, _ and - and start with a letter.",
    }),
    ...(/^https?:\/\/\S+$/.test(draft.url.trim())
      ? {}
      : { url: "Enter a URL that starts with https:// or http://" }),
    ...defined({
      client_id: hasProof(draft) && !hasClient ? "Enter the client ID for this secret or key." : undefined,
      client_secret:
        isOtherClient(draft, saved) && draft.as_program && hasClient && !hasProof(draft)
          ? "Enter a client secret or a private key to use client credentials."
          : undefined,
    }),
  };
}
