import "server-only";
import { settingsTable } from "@/server/settings";
import { dataDir, getDb } from "@/server/store/current";
import { type Access, newAccess } from "./access";

declare global {
  var __troupeAccess: Access | undefined;
}

/** The server's one Access. On globalThis: pages, routes and the proxy are separate bundles, and a link is used once. */
export function getAccess(): Access {
  globalThis.__troupeAccess ??= newAccess(getDb(), process.env);
  return globalThis.__troupeAccess;
}

/** What the settings page tells about this server. */
export function accessFacts() {
  const port = Number(process.env.PORT || 3000);
  const origin = process.env.TROUPE_PUBLIC_URL?.replace(/(?<!\/)\/+$/, "") || `http://127.0.0.1:${port}`;
  return {
    data_dir: dataDir(),
    host: process.env.HOST || "127.0.0.1",
    port,
    password_set: getAccess().sessions.signInMode === "password",
    node: process.version,
    api_base: `${origin}/api/v1`,
    answer_time: answerTime(process.env.TROUPE_ANSWER_HOURS),
  };
}

/** How many hours people have to answer where a question does not say, and whether the environment says so. */
function answerTime(set: string | undefined): { hours: number; is_set: boolean } {
  const usual = settingsTable().find(({ name }) => name === "TROUPE_ANSWER_HOURS")?.fallback;
  return { hours: Number(set || usual), is_set: Boolean(set) };
}
