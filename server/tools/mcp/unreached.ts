import { errorCode } from "@/server/domain/base/guards";

const NOBODY =
  "Nothing listens at that address and port. Check the address, and whether the server is running.";
const NO_HOST = "There is no host of that name. Check the address.";
const LATE = "The server did not accept a connection in time. Check the address and the network.";
const NO_WAY = "That host cannot be reached from here. Check the address and the network.";

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOBODY,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: "The name of the host could not be looked up just now. Check the network, and try again.",
  ECONNRESET: "The connection was cut off. Check whether the address is right, and http or https.",
  UND_ERR_SOCKET: "The connection was cut off. Check whether the address is right, and http or https.",
  ETIMEDOUT: LATE,
  UND_ERR_CONNECT_TIMEOUT: LATE,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
};

/** Ports that browsers and fetch keep off, because they belong to mail, files and the like. */
const BAD_PORT =
  "Its port belongs to another kind of service, so no request is sent there. Check the port in the address.";

/** Why no connection to a server came about, and what to do; null where it is not known to be that. */
export function describeUnreachable(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const known = BY_CODE[errorCode(cause) ?? ""];
    if (known !== undefined) return known;
    if (cause.message === "bad port") return BAD_PORT;
    if (/certificate|altnames|wrong version number|ssl routines/i.test(cause.message))
      return `The connection could not be made secure (${cause.message}). Check whether the address is http or https; a certificate of your own is trusted by NODE_EXTRA_CA_CERTS.`;
  }
  return null;
}
