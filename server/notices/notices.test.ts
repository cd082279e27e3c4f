import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { OpenQuestion } from "@/server/domain/run/questions/open-questions";
import { draw } from "@/server/domain/testing/drawing";
import { newMailDial, newNoticeFetch } from "@/server/egress/notices";
import { newStage } from "@/server/runner/testing";
import { newSealer } from "@/server/secrets/sealer";
import { newNoticeSettingStore } from "@/server/store/notice-settings";
import { newNoticeStore } from "@/server/store/notices";
import { newRunQuestions } from "@/server/store/runs/questions";
import { Notifier, RETRY_AFTER_MS } from "./notifier";

const open: (Server | ReturnType<typeof createServer>)[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  }
});

/** A receiver on this machine, which answers with that status. */
async function receiver(status = 200) {
  const got: { headers: IncomingMessage["headers"]; body: string }[] = [];
  const state = { status };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      got.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(state.status).end();
    });
  });
  open.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { got, state, port: (server.address() as AddressInfo).port };
}

/** A mail server on this machine that takes everything. */
async function mailServer() {
  const mails: string[] = [];
  const server = createSocketServer((socket: Socket) => {
    let isData = false;
    let text = "";
    const send = (line: string) => socket.write(`${line}\r\n`);
    send("220 here");
    socket.on("error", () => {});
    socket.on("data", (part: Buffer) => {
      text += part.toString();
      if (isData) {
        if (!text.includes("\r\n.\r\n")) return;
        mails.push(text);
        isData = false;
        text = "";
        send("250 taken");
        return;
      }
      for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (/^QUIT/i.test(line)) {
          socket.end("221 bye\r\n");
          return;
        }
        if (/^DATA/i.test(line)) {
          isData = true;
          send("354 go on");
        } else send("250 fine");
      }
    });
  });
  open.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { mails, port: (server.address() as AddressInfo).port };
}

const START = 1_800_000_000_000;
const SECRET_TITLE = "Send 4711 to Mallory?";

/** A database with a run that asks something, and the notifier over it. */
async function newOffice(allowed: string) {
  const stage = newStage();
  const { db } = stage;
  const clock = { now: START };
  const now = () => clock.now;
  const settings = newNoticeSettingStore(db, newSealer(null, {}));
  const store = newNoticeStore(db, now);
  const questions = newRunQuestions(db, now);
  const { id: run } = await stage.run(draw("start > end"), { workflow: "wf_pay" });
  const ask = (id: string, more: object = {}): OpenQuestion => ({
    ask: {
      id,
      node_id: "n",
      activation_id: "n#1",
      status: "open",
      requested_at: START,
      requested: {
        interaction_id: id,
        kind: "tool_confirmation",
        title: SECRET_TITLE,
        why: "Mallory wants 4711",
        fingerprint: "f".repeat(64),
        expires_at: START + 3 * 3_600_000,
      },
      ...more,
    },
    asker: { node_name: "n" },
    urgency: "high",
    assigned_to: null,
  });
  const notifier = new Notifier({
    store,
    settings,
    fetch: newNoticeFetch(allowed),
    dial: newMailDial(allowed),
    origin: () => "https://troupe.example.org",
    hide: (text) => text,
    now,
  });
  const later = async (ms: number) => {
    clock.now += ms;
    await notifier.sendDue();
  };
  return { db, run, settings, store, questions, ask, notifier, later };
}

test("a webhook gets a signed notification with a link and no content of the question", async () => {
  const { got, port } = await receiver();
  const office = await newOffice(`127.0.0.1:${port}`);
  const { signing_secret } = office.settings.saveWebhook({
    is_on: true,
    url: `http://127.0.0.1:${port}/hook?key=k`,
  });
  office.questions.replace(office.run, [office.ask("n#1/1/tool")]);
  await office.later(5_000);
  const [{ headers, body }] = got as [(typeof got)[number]];
  expect(JSON.parse(body)).toEqual({
    id: "1",
    cause: "asked",
    run_id: office.run,
    workflow_id: "wf_pay",
    workflow_name: "Test",
    kind: "tool_confirmation",
    urgency: "high",
    assigned_to: null,
    asked_at: START,
    expires_at: START + 3 * 3_600_000,
    subject: "Urgent: New question in “Test”",
    text: `Tool approval needed in “Test”. 3 hours left to answer. Review: https://troupe.example.org/inbox?run=${office.run}&question=n%231%2F1%2Ftool`,
    link: `https://troupe.example.org/inbox?run=${office.run}&question=n%231%2F1%2Ftool`,
  });
  expect(body).not.toMatch(/4711|Mallory|ffff/);
  const time = Math.floor((START + 5_000) / 1000);
  const hmac = createHmac("sha256", signing_secret!).update(`${time}.${body}`).digest("hex");
  expect(headers["troupe-signature"]).toBe(`t=${time},v1=${hmac}`);
  // Once is enough.
  await office.later(3_600_000);
  expect(got).toHaveLength(1);
});

test("a question that is answered before its notification is sent causes none", async () => {
  const { got, port } = await receiver();
  const office = await newOffice(`127.0.0.1:${port}`);
  office.settings.saveWebhook({ is_on: true, url: `http://127.0.0.1:${port}/` });
  office.questions.replace(office.run, [office.ask("a"), office.ask("b")]);
  office.questions.replace(office.run, [office.ask("b")]);
  await office.later(5_000);
  expect(got.map(({ body }) => (JSON.parse(body) as { link: string }).link)).toEqual([
    `https://troupe.example.org/inbox?run=${office.run}&question=b`,
  ]);
});

test("each reminder and each escalation is sent once", async () => {
  const { got, port } = await receiver();
  const office = await newOffice(`127.0.0.1:${port}`);
  office.settings.saveWebhook({ is_on: true, url: `http://127.0.0.1:${port}/` });
  const reminded = { reminded_at: START + 1 };
  const escalated = (count: number) => ({
    ...reminded,
    escalated: [1, 2].slice(0, count).map((level) => ({ level })),
  });
  for (const more of [{}, reminded, reminded, escalated(1), escalated(2), escalated(2)]) {
    office.questions.replace(office.run, [office.ask("a", more)]);
    await office.later(5_000);
  }
  expect(got.map(({ body }) => (JSON.parse(body) as { subject: string }).subject)).toEqual([
    "Urgent: New question in “Test”",
    "Urgent: Reminder in “Test”",
    "Urgent: Escalated in “Test”",
    "Urgent: Escalated in “Test”",
  ]);
});

test("a failed notification is retried with increasing delays, then shown as failed in the settings", async () => {
  const { got, state, port } = await receiver(500);
  const office = await newOffice(`127.0.0.1:${port}`);
  office.settings.saveWebhook({ is_on: true, url: `http://127.0.0.1:${port}/` });
  office.questions.replace(office.run, [office.ask("a")]);
  await office.later(5_000);
  expect(office.store.undelivered()).toMatchObject([
    {
      channel: "webhook",
      state: "waiting",
      attempts: 1,
      fault: `Not delivered: 127.0.0.1:${port} returned status 500.`,
    },
  ]);
  for (const wait of RETRY_AFTER_MS) {
    await office.later(wait - 1);
    await office.later(1);
  }
  expect(got).toHaveLength(RETRY_AFTER_MS.length + 1);
  expect(office.store.undelivered()).toMatchObject([
    { state: "failed", attempts: RETRY_AFTER_MS.length + 1 },
  ]);
  state.status = 204;
  office.questions.replace(office.run, [office.ask("a"), office.ask("b")]);
  await office.later(5_000);
  expect(got).toHaveLength(RETRY_AFTER_MS.length + 2);
  expect(office.store.undelivered()).toHaveLength(1);
});

test("a notification whose delivery wasn't recorded before a kill is sent once more with the same id", async () => {
  const { got, port } = await receiver();
  const office = await newOffice(`127.0.0.1:${port}`);
  office.settings.saveWebhook({ is_on: true, url: `http://127.0.0.1:${port}/` });
  office.questions.replace(office.run, [office.ask("a")]);
  const { sent } = office.store;
  office.store.sent = () => {
    throw new Error("killed");
  };
  await office.later(5_000);
  office.store.sent = sent;
  await office.later(RETRY_AFTER_MS[0] - 1);
  expect(got).toHaveLength(1);
  await office.later(1);
  await office.later(3_600_000);
  expect(got.map(({ body }) => (JSON.parse(body) as { id: string }).id)).toEqual(["1", "1"]);
  expect(office.store.undelivered()).toEqual([]);
});

test("notifications beyond the queue limit are shown as not sent", async () => {
  const office = await newOffice("127.0.0.1:9");
  office.settings.saveWebhook({ is_on: true, url: "http://127.0.0.1:9/" });
  const asks = Array.from({ length: 1_001 }, (_, at) => office.ask(`q${at}`));
  office.questions.replace(office.run, asks);
  expect(office.store.undelivered()).toMatchObject([
    {
      state: "failed",
      attempts: 0,
      fault: expect.stringContaining("Not sent, because more than 1,000 notifications were already waiting"),
    },
  ]);
});

test("mail is plain text with a link and no content of the question", async () => {
  const { mails, port } = await mailServer();
  const office = await newOffice("127.0.0.1");
  office.settings.saveEmail({
    is_on: true,
    host: "127.0.0.1",
    port,
    security: "none",
    user: "",
    from: "troupe@example.org",
    to: ["ann@example.org", "bo@example.org"],
  });
  office.questions.replace(office.run, [office.ask("a")]);
  await office.later(5_000);
  expect(office.store.undelivered()).toEqual([]);
  const [mail] = mails as [string];
  expect(mail).toContain("From: troupe@example.org");
  expect(mail).toContain("To: ann@example.org, bo@example.org");
  expect(mail).toContain("text/plain");
  // Lines are wrapped and signs encoded on the way.
  const text = mail.replace(/=\r\n/g, "").replace(/=3D/g, "=");
  expect(text).toContain(`https://troupe.example.org/inbox?run=${office.run}&question=a`);
  expect(mail).not.toMatch(/4711|Mallory|ffff/);
});

test("notifications aren't sent to an unlisted private network, and a test says so", async () => {
  const { got, port } = await receiver();
  const office = await newOffice("");
  office.settings.saveWebhook({ is_on: true, url: `http://127.0.0.1:${port}/` });
  office.settings.saveEmail({
    is_on: true,
    host: "127.0.0.1",
    port,
    security: "none",
    user: "",
    from: "a@example.org",
    to: ["b@example.org"],
  });
  for (const channel of ["webhook", "email"] as const)
    expect(await office.notifier.test(channel)).toEqual({
      ok: false,
      message:
        "Connecting to 127.0.0.1 is not allowed: the address is on a private network. The admin can add it to TROUPE_NOTICE_ALLOWED_HOSTS.",
    });
  expect(got).toEqual([]);
});

test("a test notification reports success or the reason for its failure", async () => {
  const { got, port } = await receiver();
  const office = await newOffice("127.0.0.1");
  expect(await office.notifier.test("webhook")).toEqual({
    ok: false,
    message: "Not delivered: No notification channel is configured.",
  });
  office.settings.saveWebhook({ is_on: false, url: `http://127.0.0.1:${port}/` });
  expect(await office.notifier.test("webhook")).toEqual({
    ok: true,
    message: "The receiver accepted the test notification.",
  });
  expect(JSON.parse(got[0]!.body)).toMatchObject({ cause: "test" });
  for (const server of open.splice(0)) server.close();
  await expect
    .poll(() => office.notifier.test("webhook"), { timeout: 10_000 })
    .toEqual({ ok: false, message: "Not delivered: nothing is listening at that address and port." });
});

test("notification secrets are stored encrypted, and a password is kept for its own server only", async () => {
  const db = emptyDb();
  const settings = newNoticeSettingStore(db, newSealer(null, {}));
  const server = {
    is_on: true,
    host: "mail.example.org",
    port: 465,
    security: "tls" as const,
    user: "troupe",
    from: "a@example.org",
    to: ["b@example.org"],
  };
  settings.saveEmail({ ...server, password: "open sesame" });
  settings.saveWebhook({ is_on: true, url: "https://hooks.example.org/very-secret-path" });
  const rows = JSON.stringify(db.$client.prepare("select * from settings").all());
  expect(rows).not.toMatch(/sesame|very-secret-path/);
  expect(JSON.stringify(settings.find())).not.toMatch(/sesame|very-secret-path|sealed/);
  settings.saveEmail({ ...server, port: 587 });
  expect(settings.email()?.password).toBeNull();
  settings.saveEmail({ ...server, password: "open sesame" });
  settings.saveEmail({ ...server, to: ["c@example.org"] });
  expect(settings.email()?.password).toBe("open sesame");
  settings.saveWebhook({ is_on: false });
  expect(settings.webhook()?.url).toBe("https://hooks.example.org/very-secret-path");
});
