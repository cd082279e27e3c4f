import { createTransport } from "nodemailer";
import type { MailDial } from "@/server/egress/notices";
import type { MailTarget } from "@/server/store/notice-settings";
import type { Notice } from "./words";

const TIMEOUT_MS = 15_000;

/** Hands a notice to the mail server, as plain text. The connection comes from `dial`, which checks where it leads. */
export async function mailNotice(dial: MailDial, target: MailTarget, notice: Notice): Promise<void> {
  const { host, port, security, user, password, from, to } = target;
  if (password !== null && security === "none")
    throw new Error(
      "A password is not sent over a connection that is not protected. Choose TLS or STARTTLS.",
    );
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
    ...(user === "" ? {} : { auth: { user, pass: password ?? "" } }),
    getSocket: (_options, done) => {
      dial(host, port).then(
        (connection) => done(null, { connection }),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), false),
      );
    },
  });
  try {
    await transport.sendMail({ from, to: [...to], subject: notice.subject, text: notice.text });
  } finally {
    transport.close();
  }
}
