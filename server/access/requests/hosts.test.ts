import { hostname, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import type { Env } from "@/server/settings";
import { isHttpsHost, isOwnHost, isOwnOrigin } from "./hosts";

const OPEN = { TROUPE_PUBLIC_URL: "https://Troupe.example.org:8443/app" };

test("a server that listens on all addresses accepts the names and addresses of its machine", () => {
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
  ["a machine name while it listens on loopback only", `${hostname()}:3000`, {}, false],
  ["the IPv6 address it listens on, in brackets", "[fd00::7]:3000", { HOST: "fd00::7" }, true],
  ["the IPv6 address it listens on, set with brackets", "[fd00::7]:3000", { HOST: "[fd00::7]" }, true],
  ["the IPv6 address it listens on, without brackets", "fd00::7:3000", { HOST: "fd00::7" }, false],
  ["a host without a port on port 80", "127.0.0.1", { PORT: "80" }, true],
  ["a host with port 80", "127.0.0.1:80", { PORT: "80" }, true],
  ["a host without a port on another port", "127.0.0.1", { PORT: "3000" }, false],
  ["its public name with the port", "TROUPE.example.org:8443", OPEN, true],
  ["its public name without the port", "troupe.example.org", OPEN, false],
  ["its own address in addition to the public name", "127.0.0.1:3000", OPEN, true],
  ["a public name that isn't a URL", "troupe", { TROUPE_PUBLIC_URL: "troupe" }, false],
  ["a missing host name", null, {}, false],
])("the Host check accepts or rejects %s", (_what, host, env, own) => {
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
])("the Origin check accepts or rejects %s", (origin, env, own) => {
  expect(isOwnOrigin(origin, env)).toBe(own);
});

test.each<[string | null, Env, boolean]>([
  ["Troupe.example.org:8443", OPEN, true],
  ["127.0.0.1:3000", OPEN, false],
  [null, OPEN, false],
  ["troupe.example.org", { TROUPE_PUBLIC_URL: "http://troupe.example.org" }, false],
  ["127.0.0.1:3000", {}, false],
])("cookies for host %s are Secure only at the public https address", (host, env, bound) => {
  expect(isHttpsHost(host, env)).toBe(bound);
});
