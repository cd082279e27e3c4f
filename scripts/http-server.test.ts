import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { newHttpServer } from "./http-server.mjs";

test("a request whose body never arrives times out with 408", async () => {
  const server = newHttpServer(() => {}, { headersMs: 200, requestMs: 300, checkMs: 50 });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 408 /);
  server.close();
});
