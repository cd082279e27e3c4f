import { afterEach, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newMailDial, newNoticeFetch } from "@/server/egress/notices";
import { newStage } from "@/server/runner/testing";
import { newSealer } from "@/server/secrets/sealer";
import { type MailTarget, newNoticeSettingStore } from "@/server/store/notice-settings";
import { type NoticeStore, newNoticeStore } from "@/server/store/notices";
import { newRunQuestions } from "@/server/store/runs/questions";
import { selfSigned } from "@/server/testing/certificate";
import { Notifier, RETRY_AFTER_MS } from "./notifier";
import { mailServer } from "./testing";

/* Mail as it goes over the wire: to a mail server on this machine, protected and with a password. */

const pair = selfSigned();
const account = { user: "troupe", password: "open sesame" };
const open: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of open.splice(0)) close();
});

async function serverWith(options: Parameters<typeof mailServer>[0]) {
  const server = await mailServer({ ...pair, ...options });
  open.push(server);
  return server;
}

const START = 1_800_000_000_000;

/** A question that waits, and who tells of it by mail. `trusted`: the certificate that this machine trusts beside its own. */
async function newOffice(port: number, target: Partial<MailTarget>, trusted: string | undefined = pair.cert) {
  const stage = newStage();
  const { db } = stage;
  const clock = { now: START };
  const now = () => clock.now;
  const settings = newNoticeSettingStore(db, newSealer(null, {}));
  const { password, ...server } = { password: null, ...target };
  settings.saveEmail({
    is_on: true,
    host: "127.0.0.1",
    port,
    security: "none",
    user: "",
    from: "troupe@example.org",
    to: ["ann@example.org"],
    ...server,
    ...(password === null ? {} : { password }),
  });
  const { id: run } = await stage.run(draw("start > end"), { workflow: "wf_pay" });
  const questions = newRunQuestions(db, now);
  const requested = {
    interaction_id: "q",
    kind: "approval" as const,
    title: "Pay?",
    why: "It is due.",
    fingerprint: "f".repeat(64),
    expires_at: START + 90 * 86_400_000,
  };
  const ask = {
    id: "q",
    node_id: "n",
    activation_id: "n#1",
    status: "open" as const,
    requested,
    requested_at: START,
  };
  questions.replace(run, [{ ask, asker: { node_name: "n" }, urgency: "normal", assigned_to: null }]);
  const store = newNoticeStore(db, now);
  /** A process that sends; `stops` is what it does not get to do any more. */
  const notifier = (stops: Partial<NoticeStore> = {}) =>
    new Notifier({
      store: { ...store, ...stops },
      settings,
      fetch: newNoticeFetch("127.0.0.1"),
      dial: newMailDial("127.0.0.1"),
      ...(trusted === undefined ? {} : { trusted }),
      origin: () => "https://troupe.example.org",
      hide: (text) => text.replaceAll(account.password, "…"),
      now,
    });
  const after = async (ms: number, one = notifier()) => {
    clock.now += ms;
    await one.sendDue();
    await one.stop();
  };
  return { store, notifier, after, run };
}

test.each(["tls", "starttls"] as const)(
  "mail is sent over %s with a user name and password",
  async (security) => {
    const { mails, port } = await serverWith({ security, ...account });
    const office = await newOffice(port, { security, ...account });
    await office.after(5_000);
    expect(office.store.undelivered()).toEqual([]);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain("To: ann@example.org");
  },
);

test.each([
  [
    "a wrong password",
    { security: "tls" as const, ...account },
    { security: "tls" as const, user: "troupe", password: "guessed" },
    pair.cert,
    "Not delivered: the mail server rejected the user name or password.",
  ],
  [
    "an untrusted certificate",
    { security: "tls" as const },
    { security: "tls" as const },
    undefined,
    "Not delivered: this machine doesn't trust the mail server's certificate (self-signed certificate). Use a trusted certificate, or add its certificate authority with NODE_EXTRA_CA_CERTS.",
  ],
  [
    "an untrusted certificate with STARTTLS",
    { security: "starttls" as const },
    { security: "starttls" as const },
    undefined,
    "Not delivered: this machine doesn't trust the mail server's certificate (self-signed certificate). Use a trusted certificate, or add its certificate authority with NODE_EXTRA_CA_CERTS.",
  ],
  [
    "a server without the configured encryption",
    { security: "none" as const },
    { security: "starttls" as const },
    pair.cert,
    "Not delivered: the connection could not be encrypted as configured.",
  ],
])(
  "%s is reported with a message and retried as scheduled",
  async (_what, server, target, trusted, sentence) => {
    const { mails, port } = await serverWith(server);
    const office = await newOffice(port, target, trusted ?? "");
    expect(await office.notifier().test("email")).toEqual({ ok: false, message: sentence });
    await office.after(5_000);
    expect(office.store.undelivered()).toMatchObject([{ state: "waiting", attempts: 1, fault: sentence }]);
    for (const wait of RETRY_AFTER_MS) await office.after(wait);
    expect(office.store.undelivered()).toMatchObject([{ state: "failed", attempts: 6, fault: sentence }]);
    expect(mails).toEqual([]);
  },
);

test("a mail server that is down is reported, and gets the mail once when it is up", async () => {
  const server = await serverWith({ security: "tls", ...account });
  const { port } = server;
  server.close();
  const office = await newOffice(port, { security: "tls", ...account });
  const sentence = "Not delivered: nothing is listening at that address and port.";
  expect(await office.notifier().test("email")).toEqual({ ok: false, message: sentence });
  await office.after(5_000);
  expect(office.store.undelivered()).toMatchObject([{ state: "waiting", attempts: 1, fault: sentence }]);
  const again = await mailServer({ ...pair, security: "tls", ...account, port });
  open.push(again);
  await office.after(RETRY_AFTER_MS[0]);
  await office.after(RETRY_AFTER_MS[1]);
  expect([again.mails.length, office.store.undelivered()]).toEqual([1, []]);
});

/** What a process does not do any more that was killed. */
const killed = {
  sent: () => {
    throw new Error("killed");
  },
  failed: () => {
    throw new Error("killed");
  },
};

test("mail whose delivery wasn't recorded before a kill is sent once more with the same Message-ID", async () => {
  const { mails, port } = await serverWith({});
  const office = await newOffice(port, {});
  await office.after(5_000, office.notifier(killed));
  expect(mails).toHaveLength(1);
  await office.after(RETRY_AFTER_MS[0] - 1);
  expect(mails).toHaveLength(1);
  await office.after(1);
  expect(mails).toHaveLength(2);
  const [first, second] = mails.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1]);
  expect([first, second]).toEqual(Array(2).fill(`<troupe-notice-1.${office.run}@example.org>`));
  for (const wait of RETRY_AFTER_MS) await office.after(wait);
  expect(mails).toHaveLength(2);
});

test("mail is sent no more often than scheduled if the server is killed at each attempt", async () => {
  const { mails, port } = await serverWith({});
  const office = await newOffice(port, {});
  await office.after(5_000, office.notifier(killed));
  for (const wait of [...RETRY_AFTER_MS, 60_000, 60_000]) await office.after(wait, office.notifier(killed));
  expect(mails).toHaveLength(RETRY_AFTER_MS.length + 1);
  await office.after(60_000);
  expect(mails).toHaveLength(RETRY_AFTER_MS.length + 1);
  expect(office.store.undelivered()).toMatchObject([
    {
      state: "failed",
      attempts: 6,
      fault:
        "The server stopped during the last attempt, so it is unknown whether the notification was delivered.",
    },
  ]);
});

test("mail is sent after a restart if the server was killed before sending it", async () => {
  const { mails, port } = await serverWith({});
  const office = await newOffice(port, {});
  const begun = {
    ...killed,
    begin: () => {
      throw new Error("killed");
    },
  };
  await office.after(5_000, office.notifier(begun));
  expect(mails).toEqual([]);
  await office.after(1);
  expect(mails).toHaveLength(1);
});

test("a mail server that accepts the mail but doesn't confirm it gets it again as scheduled", async () => {
  const server = await serverWith({});
  const office = await newOffice(server.port, {});
  server.state.isDeaf = true;
  await office.after(5_000);
  expect(office.store.undelivered()).toMatchObject([{ state: "waiting", attempts: 1 }]);
  server.state.isDeaf = false;
  await office.after(RETRY_AFTER_MS[0]);
  expect([server.mails.length, office.store.undelivered()]).toEqual([2, []]);
});

test("no password is sent over an unencrypted connection or shown in an error", async () => {
  const server = await serverWith({ security: "none" });
  const office = await newOffice(server.port, { security: "none", ...account });
  expect(await office.notifier().test("email")).toEqual({
    ok: false,
    message: "A password is not sent over an unencrypted connection. Choose TLS or STARTTLS.",
  });
  expect(server.state.connections).toBe(0);
});
