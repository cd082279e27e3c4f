import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing is listening at that address and port",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name lookup failed temporarily",
  ECONNRESET: "the connection was closed",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  ETIMEDOUT: "the request timed out",
  TimeoutError: "the request timed out",
  UND_ERR_CONNECT_TIMEOUT: "the request timed out",
  UND_ERR_HEADERS_TIMEOUT: "the request timed out",
  EAUTH: "the mail server rejected the user name or password",
  ENOAUTH: "the mail server requires a user name and password",
  ETLS: "the connection could not be encrypted as configured",
  EENVELOPE: "the mail server rejected the sender or a recipient",
  EDNS: "the host name is unknown",
};
const MOST = 300;

/** Nothing was sent, for a reason that is a sentence for people already. */
export class NotSent extends namedError("NotSent") {}

/** Why a delivery failed, in a sentence. `hide` removes secrets from the untrusted server's message. */
export function deliveryErrorText(error: unknown, hide: (text: string) => string): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const text = ERROR_TEXTS[errorCode(cause) ?? ""] ?? ERROR_TEXTS[cause.name];
    if (text !== undefined) return `Not delivered: ${text}.`;
    if (cause.name === "EgressError" || cause instanceof NotSent) return cause.message;
  }
  // Newer versions of Node append instructions for starting it manually.
  const raw = errorMessage(error).replace(/; if the root CA is .*--use-system-ca/, "");
  const message = hide(raw).replace(/\s+/g, " ").slice(0, MOST);
  if (/certificate|altnames/i.test(message))
    return `Not delivered: this machine doesn't trust the mail server's certificate (${message}). Use a trusted certificate, or add its certificate authority with NODE_EXTRA_CA_CERTS.`;
  return /TLS|SSL/i.test(message)
    ? `Not delivered: the connection could not be encrypted as configured (${message}).`
    : `Not delivered: ${message}${/[.!?]$/.test(message) ? "" : "."}`;
}
