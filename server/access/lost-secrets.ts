import type { McpServerStore } from "@/server/store/library/mcp-servers";
import type { ToolSettingStore } from "@/server/store/library/tool-settings";
import type { NoticeSettingStore } from "@/server/store/notice-settings";
import type { ProviderStore } from "@/server/store/providers";
import type { SecretStore } from "@/server/store/secrets";

export interface SecretHolders {
  providers: Pick<ProviderStore, "list" | "keyOf" | "headersOf">;
  toolSettings: Pick<ToolSettingStore, "list" | "backendFor">;
  mcpServers: Pick<McpServerStore, "list" | "authorizationOf" | "oauthOf">;
  noticeSettings: Pick<NoticeSettingStore, "webhook" | "email">;
  secrets: Pick<SecretStore, "list" | "valueOf">;
}

/** The stored secrets that the present key does not open, by what they are for; none where everything is well. */
export function lostSecrets({
  providers,
  toolSettings,
  mcpServers,
  noticeSettings,
  secrets,
}: SecretHolders): string[] {
  const held = [
    ...providers.list().map(({ id, name }) => ({
      what: `provider ${name}`,
      open: () => [providers.keyOf(id), providers.headersOf(id)],
    })),
    ...toolSettings.list().map(({ purpose }) => ({
      what: `search (${purpose})`,
      open: () => toolSettings.backendFor(purpose),
    })),
    ...mcpServers.list().flatMap(({ name }) => [
      { what: `MCP server ${name}`, open: () => mcpServers.authorizationOf(name) },
      { what: `sign-in to the MCP server ${name}`, open: () => mcpServers.oauthOf(name) },
    ]),
    ...secrets.list().map(({ name }) => ({ what: `secret ${name}`, open: () => secrets.valueOf(name) })),
    { what: "notification webhook", open: () => noticeSettings.webhook() },
    { what: "mail server for notifications", open: () => noticeSettings.email() },
  ];
  return held.filter(({ open }) => !opens(open)).map(({ what }) => what);
}

/** What to do about them, in words; null where none is lost. */
export function lostSecretsRemark(lost: readonly string[], dataDir: string): string | null {
  if (lost.length === 0) return null;
  return [
    `The encryption key differs from the one that encrypted these secrets: ${lost.join(", ")}.`,
    `Restore the previous ${dataDir}/secret.key or TROUPE_SECRET_KEY and restart, or enter these secrets again in Settings.`,
  ].join(" ");
}

function opens(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}
