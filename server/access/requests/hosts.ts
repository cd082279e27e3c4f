import { hostname, networkInterfaces } from "node:os";
import { type Env, isLoopback } from "@/server/settings";

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const WILDCARDS = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Whether the Host header names this server. A foreign name that resolves to this machine (DNS rebinding) is how a
 * website reaches a server that listens on loopback only, so everything not listed is refused.
 */
export function isOwnHost(host: string | null, env: Env = process.env): boolean {
  return !!host && ownHosts(env).has(host.toLowerCase());
}

/** Whether an Origin header names this server. `null` (sandboxed frames, files) does not. */
export function isOwnOrigin(origin: string, env: Env = process.env): boolean {
  const open = publicUrl(env);
  if (open && origin === open.origin) return true;
  return origin.startsWith("http://") && isOwnHost(origin.slice("http://".length), env);
}

/** Whether this request came through the public https address, so that cookies may be bound to https. */
export function isHttpsHost(host: string | null, env: Env = process.env): boolean {
  const open = publicUrl(env);
  return open?.protocol === "https:" && host?.toLowerCase() === open.host;
}

let known: { key: string; hosts: Set<string> } | null = null;

function ownHosts(env: Env): Set<string> {
  const key = `${env.PORT} ${env.HOST} ${env.TROUPE_PUBLIC_URL}`;
  if (known?.key === key) return known.hosts;
  const port = env.PORT || "3000";
  const names = [...LOOPBACK_NAMES, ...boundNames(env.HOST || "127.0.0.1")].map((name) => name.toLowerCase());
  const hosts = new Set(names.map((name) => `${name}:${port}`));
  if (port === "80") for (const name of names) hosts.add(name);
  const open = publicUrl(env);
  if (open) hosts.add(open.host);
  known = { key, hosts };
  return hosts;
}

/** Names for a bind address. For "every address" those of this machine: a rebinding site always sends a name of its own. */
function boundNames(bind: string): string[] {
  if (isLoopback(bind)) return [bracketed(bind)];
  if (!WILDCARDS.has(bind)) return [bracketed(bind)];
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [hostname(), ...addresses.map(({ address }) => bracketed(address))];
}

const bracketed = (address: string) =>
  address.includes(":") && !address.startsWith("[") ? `[${address}]` : address;

function publicUrl(env: Env): URL | null {
  return env.TROUPE_PUBLIC_URL && URL.canParse(env.TROUPE_PUBLIC_URL) ? new URL(env.TROUPE_PUBLIC_URL) : null;
}
