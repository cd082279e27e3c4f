import { createTransport } from "nodemailer";
import { defined } from "@/server/domain/base/defined";
import type { MailDial } from "@/server/egress/notices";
import type { MailTarget } from "@/server/store/notice-settings";
import { NotSent } from "./delivery-errors";
import type { Notice } from "./notice-text";

const TIMEOUT_MS = 15_000;

/** How mail servers are reached. */
export interface MailWay {
  dial: MailDial;
  /** Certificates in PEM that are trusted in place of those of the system. */
  trusted?: string;
}

/** Hands a notice to the mail server, as plain text. The connection comes from `dial`, which checks where it leads. */
export async function mailNotice(
  { dial, trusted }: MailWay,
  target: MailTarget,
  notice: Notice & { id?: string },
): Promise<void> {
  const { host, port, security, user, password, from, to } = target;
  if (password !== null && security === "none")
    throw new NotSent("A password is not sent over an unencrypted connection. Choose TLS or STARTTLS.");
  const transport = createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...defined({
      tls: trusted === undefined ? undefined : { ca: trusted },
      auth: user === "" ? undefined : { user, pass: password ?? "" },
    }),
    getSocket: (_options, done) => {
      dial(host, port).then(
        (connection) => done(null, { connection }),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), false),
      );
    },
  });
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: notice.subject,
      text: notice.text,
      // The same where it is sent again: who gets it twice can tell.
      ...defined({
        messageId: notice.id === undefined ? undefined : `<troupe-notice-${notice.id}@${domainOf(from)}>`,
      }),
    });
  } finally {
    transport.close();
  }
}

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);
