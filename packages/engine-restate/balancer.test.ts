import net, { type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { newBalancer } from "./balancer.mjs";
import { freePorts } from "./testing/restate";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Somebody who says their name to whoever connects. */
async function newTarget(name: string) {
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.write(name);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  closing.push(close);
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Who answers through the balancer; null where the connection is closed. The connection stays open. */
const answering = (port: number) =>
  new Promise<string | null>((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    closing.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.once("data", (data) => resolve(data.toString()));
    socket.once("close", () => resolve(null));
  });

test("the balancer spreads connections over running targets, skips stopped ones, and prefers a restarted one", async () => {
  const [port = 0] = await freePorts(1);
  const [a, b] = [await newTarget("a"), await newTarget("b")];
  let targets = [a.address, b.address];
  const balancer = newBalancer(() => targets);
  await balancer.listen(port);
  closing.push(balancer.close);
  const four = [];
  for (let k = 0; k < 4; k++) four.push(await answering(port));
  expect(four.toSorted()).toEqual(["a", "a", "b", "b"]);

  a.close();
  expect([await answering(port), await answering(port)]).toEqual(["b", "b"]);

  const again = await newTarget("again");
  targets = [again.address, b.address];
  const three = [];
  for (let k = 0; k < 3; k++) three.push(await answering(port));
  expect(three).toEqual(["again", "again", "again"]);

  targets = [];
  expect(await answering(port)).toBeNull();
});
