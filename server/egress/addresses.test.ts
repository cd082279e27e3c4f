import { expect, test } from "vitest";
import { reachOf } from "./addresses";

test.each([
  ["public", ["8.8.8.8", "[2606:4700::1111]", "2001:4860:4860::8888", "::ffff:8.8.8.8", "168.63.129.15"]],
  ["loopback", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"]],
  [
    "private",
    ["10.0.0.1", "172.31.0.1", "192.168.0.1", "100.64.0.1", "fd00::1", "[fc00::1]", "::ffff:10.0.0.1"],
  ],
  [
    "forbidden",
    [
      "0.0.0.0",
      "169.254.169.254",
      "168.63.129.16",
      "::ffff:168.63.129.16",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "fe80::1%eth0",
      "ff02::1",
      "4000::1",
      "localhost",
      "",
      "1.2.3.4.5",
    ],
  ],
])("%s addresses are recognized in IPv4, IPv6 and mapped form", (reach, addresses) => {
  expect(addresses.filter((address) => reachOf(address) !== reach)).toEqual([]);
});
