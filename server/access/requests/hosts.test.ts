import { hostname, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import type { Env } from "@/server/settings";
import { isHttpsHost, isOwnHost, isOwnOrigin } from "./hosts";

const OPEN = { TROUPE_PUBLIC_URL: "https://Troupe.example.org:8443/app" };

test("a server that listens on every address answers to the names and addresses of its machine", () => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const names = [
    "localhost",
    hostname().toUpperCase(),
    ...addresses.map(({ address }) => (address.includes(":") ? `[${address}]` : address)),
  ];
  for (const HOST of ["0.0.0.0", "::", "[::]"]) {
    expect(names.filter((name) => !isOwnHost(`${name}:3000`, { HOST }))).toEqual([]);
    expect(isOwnHost(`${HOST}:3000`, { HOST })).toBe(false);
  }
});

test.each<[string, string | null, Env, boolean]>([
  ["a name of its machine while it listens here only", `${hostname()}:3000`, {}, false],
  ["an address that it is bound to, in brackets", "[fd00::7]:3000", { HOST: "fd00::7" }, true],
  ["an address that it is bound to, given in brackets", "[fd00::7]:3000", { HOST: "[fd00::7]" }, true],
  ["an address that it is bound to, without brackets", "fd00::7:3000", { HOST: "fd00::7" }, false],
  ["a name without a port where that is 80", "127.0.0.1", { PORT: "80" }, true],
  ["a name with port 80", "127.0.0.1:80", { PORT: "80" }, true],
  ["a name without a port where that is another", "127.0.0.1", { PORT: "3000" }, false],
  ["its public name with the port", "TROUPE.example.org:8443", OPEN, true],
  ["its public name without the port", "troupe.example.org", OPEN, false],
  ["its own address beside the public name", "127.0.0.1:3000", OPEN, true],
  ["a public name that is no address", "troupe", { TROUPE_PUBLIC_URL: "troupe" }, false],
  ["no name at all", null, {}, false],
])("whether the server answers to %s", (_what, host, env, own) => {
  expect(isOwnHost(host, env)).toBe(own);
});

test.each<[string, Env, boolean]>([
  ["https://troupe.example.org:8443", OPEN, true],
  ["https://troupe.example.org", OPEN, false],
  ["http://troupe.example.org:8443", OPEN, true],
  ["http://127.0.0.1:3000", {}, true],
  ["https://127.0.0.1:3000", {}, false],
  ["ftp://127.0.0.1:3000", {}, false],
  ["127.0.0.1:3000", {}, false],
  ["null", {}, false],
])("pages of %s", (origin, env, own) => {
  expect(isOwnOrigin(origin, env)).toBe(own);
});

test.each<[string | null, Env, boolean]>([
  ["Troupe.example.org:8443", OPEN, true],
  ["127.0.0.1:3000", OPEN, false],
  [null, OPEN, false],
  ["troupe.example.org", { TROUPE_PUBLIC_URL: "http://troupe.example.org" }, false],
  ["127.0.0.1:3000", {}, false],
])("cookies of %s are bound to https only behind the public https address", (host, env, bound) => {
  expect(isHttpsHost(host, env)).toBe(bound);
});
