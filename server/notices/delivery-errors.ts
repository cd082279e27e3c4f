import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at that address and port",
  ENOTFOUND: "no such host is known",
  EAI_AGAIN: "the name of the host could not be looked up just now",
  ECONNRESET: "the connection was cut off",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "it took too long to answer",
  TimeoutError: "it took too long to answer",
  UND_ERR_CONNECT_TIMEOUT: "it took too long to answer",
  UND_ERR_HEADERS_TIMEOUT: "it took too long to answer",
  EAUTH: "the mail server did not take the name and the password",
  ENOAUTH: "the mail server wants a name and a password",
  ETLS: "the connection could not be protected as it was set",
  EENVELOPE: "the mail server did not take the sender or a receiver",
  EDNS: "no such host is known",
};
const MOST = 300;

/** Nothing was sent, for a reason that is a sentence for people already. */
export class NotSent extends namedError("NotSent") {}

/** Why a delivery failed, in a sentence. `hide` removes secrets from the untrusted server's message. */
export function deliveryErrorText(error: unknown, hide: (text: string) => string): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const text = ERROR_TEXTS[errorCode(cause) ?? ""] ?? ERROR_TEXTS[cause.name];
    if (text !== undefined) return `It did not arrive: ${text}.`;
    if (cause.name === "EgressError" || cause instanceof NotSent) return cause.message;
  }
  // Newer versions of Node append instructions for starting it manually.
  const raw = errorMessage(error).replace(/; if the root CA is .*--use-system-ca/, "");
  const message = hide(raw).replace(/\s+/g, " ").slice(0, MOST);
  if (/certificate|altnames/i.test(message))
    return `It did not arrive: this machine does not trust the certificate of the mail server (${message}). Give the server one that it does, or let it trust this one by NODE_EXTRA_CA_CERTS.`;
  return /TLS|SSL/i.test(message)
    ? `It did not arrive: the connection could not be protected as it was set (${message}).`
    : `It did not arrive: ${message}${/[.!?]$/.test(message) ? "" : "."}`;
}
