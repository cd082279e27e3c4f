import { lookup as resolveName } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { reachOf } from "./addresses";
import { type Allows, EGRESS_LIMITS, EgressError, hostsIn, newGuardedFetch } from "./fetch";

const HINT = " The admin can add it to TROUPE_NOTICE_ALLOWED_HOSTS.";

/** The internet, and the hosts on this machine and around it that are listed. */
function allowsListed(allowed: string | undefined): Allows {
  const listed = new Set(hostsIn(allowed));
  return (address, hostname, port) => {
    const reach = reachOf(address);
    if (reach === "public") return true;
    return reach !== "forbidden" && (listed.has(hostname) || listed.has(`${hostname}:${port}`));
  };
}

/** Posts notifications. Follows no redirects: the content is meant for one receiver. */
export const newNoticeFetch = (allowed: string | undefined): typeof globalThis.fetch =>
  newGuardedFetch(allowsListed(allowed), {
    timeoutMs: EGRESS_LIMITS.toolMs,
    maxBytes: 64 * 1024,
    hint: HINT,
    redirect: "The receiver answered with a redirect. Enter the URL it redirects to.",
  });

/** Opens a connection to a mail server. Throws EgressError, or what the connection failed with. */
export type MailDial = (host: string, port: number) => Promise<Socket>;

export function newMailDial(allowed: string | undefined): MailDial {
  const allows = allowsListed(allowed);
  return async (host, port) => {
    const refusal = () =>
      new EgressError(
        "ADDRESS_REFUSED",
        `Connecting to ${host} is not allowed: the address is on a private network.${HINT}`,
      );
    const isFine = (address: string) => allows(address, host, String(port));
    const found = isIP(host)
      ? [host]
      : (await resolveName(host, { all: true })).map(({ address }) => address);
    const [first] = found;
    if (first === undefined || !found.every(isFine)) throw refusal();
    const socket = connect({ host: first, port });
    socket.setTimeout(EGRESS_LIMITS.connectMs, () =>
      socket.destroy(new Error(`${host} isn't responding on port ${port}.`)),
    );
    await new Promise<void>((done, failed) => {
      socket.once("connect", done);
      socket.once("error", failed);
    });
    socket.setTimeout(0);
    if (socket.remoteAddress && isFine(socket.remoteAddress)) return socket;
    socket.destroy();
    throw refusal();
  };
}
