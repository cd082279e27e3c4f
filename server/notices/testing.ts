import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { portOf } from "@/server/llm/testing";
import type { MailTarget } from "@/server/store/notice-settings";

interface MailServerOptions {
  security?: MailTarget["security"];
  key?: string;
  cert?: string;
  /** Who may send; nobody has to say who they are where it is absent. */
  user?: string;
  password?: string;
  /** Where it listens; any free place where it is absent. */
  port?: number;
}

/** A mail server on this machine, with what it was sent. `isDeaf`: it takes mails and does not say so. */
export async function mailServer(options: MailServerOptions = {}) {
  const { security = "none", key, cert, user, password } = options;
  const mails: string[] = [];
  const state = { isDeaf: false, connections: 0 };
  const sockets = new Set<Socket>();

  const talk = (socket: Socket, greets: boolean, isProtected: boolean) => {
    let login: string[] = [];
    let [text, isData, isIn] = ["", false, user === undefined];
    let isAsking = false;
    const reply = (line: string) => void socket.write(`${line}\r\n`);
    const check = (name: string | undefined, word: string | undefined) => {
      isIn = name === user && word === password;
      reply(isIn ? "235 come in" : "535 5.7.8 wrong name or password");
    };
    const plain = (encoded: string) => Buffer.from(encoded, "base64").toString();
    const obey = (line: string) => {
      if (isAsking) {
        login.push(plain(line));
        if (login.length < 2) return reply("334 UGFzc3dvcmQ6");
        isAsking = false;
        const [name, word] = login;
        return check(name, word);
      }
      if (/^EHLO/i.test(line)) {
        if (security === "starttls" && !isProtected) reply("250-STARTTLS");
        if (user !== undefined && isProtected) reply("250-AUTH PLAIN LOGIN");
        return reply("250 fine");
      }
      if (/^STARTTLS/i.test(line) && security !== "starttls") return reply("502 not here");
      if (/^STARTTLS/i.test(line) && key && cert) {
        reply("220 go on");
        socket.removeAllListeners("data");
        return talk(new TLSSocket(socket, { isServer: true, key, cert }), false, true);
      }
      if (/^AUTH PLAIN/i.test(line)) {
        const [, name, word] = plain(line.split(" ")[2] ?? "").split("\0");
        return check(name, word);
      }
      if (/^AUTH LOGIN/i.test(line)) {
        [isAsking, login] = [true, []];
        return reply("334 VXNlcm5hbWU6");
      }
      if (/^QUIT/i.test(line)) return void socket.end("221 bye\r\n");
      if (/^MAIL/i.test(line) && !isIn) return reply("530 5.7.0 say who you are");
      if (/^DATA/i.test(line)) {
        isData = true;
        return reply("354 go on");
      }
      reply("250 fine");
    };
    socket.on("error", () => {});
    socket.on("data", (part: Buffer) => {
      text += part.toString();
      if (isData) {
        const end = text.indexOf("\r\n.\r\n");
        if (end < 0) return;
        mails.push(text.slice(0, end));
        [text, isData] = [text.slice(end + 5), false];
        if (state.isDeaf) socket.destroy();
        else reply("250 taken");
        return;
      }
      for (let end = text.indexOf("\r\n"); end >= 0 && !isData; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        obey(line);
      }
    });
    if (greets) reply("220 here");
  };

  const isTls = security === "tls";
  const take = (socket: Socket) => {
    state.connections++;
    talk(socket, true, isTls);
  };
  const server: Server = isTls && key && cert ? createTlsServer({ key, cert }, take) : createServer(take);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.on("tlsClientError", () => {});
  await once(server.listen(options.port ?? 0, "127.0.0.1"), "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { mails, state, port: portOf(server), close };
}
