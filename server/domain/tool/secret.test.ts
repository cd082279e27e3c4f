import { expect, test } from "vitest";
import { fillIn, isHostOf, secretBehind, secretsIn, splitAtSecrets, standIn } from "./secret";
import { SecretHost, SecretTemplate } from "./secret-schemas";

test("a host matches by its exact name, or below a name behind *.", () => {
  const hosts = ["api.example.com", "*.example.org"];
  for (const host of ["api.example.com", "a.example.org", "a.b.example.org"])
    expect(isHostOf(hosts, host), host).toBe(true);
  for (const host of [
    "example.com",
    "x.api.example.com",
    "api.example.com.evil.test",
    "example.org",
    ".example.org",
    "evilexample.org",
    "a.example.org.evil.test",
  ])
    expect(isHostOf(hosts, host), host).toBe(false);
});

test("hosts are normalized as in URLs, and everything else is refused", () => {
  const read = (host: string) => SecretHost.safeParse(host).data ?? null;
  expect(read(" API.Example.com ")).toBe("api.example.com");
  expect(read("*.Bücher.example")).toBe("*.xn--bcher-kva.example");
  expect(read("127.1")).toBe("127.0.0.1");
  expect(read("[::1]")).toBe("[::1]");
  for (const host of [
    "",
    "*",
    "*.",
    "*.com",
    "a.*.com",
    "https://a.com",
    "a.com/x",
    "a.com:80",
    "me@a.com",
    "a b.com",
  ])
    expect(read(host), host).toBeNull();
});

test("references are found within texts, values and JSON strings", () => {
  expect(secretsIn('Bearer {"$secret": "A"}')).toEqual(["A"]);
  expect(secretsIn('{ "$secret":"A" } and {"$secret" : "B-2"}')).toEqual(["A", "B-2"]);
  expect(secretsIn({ a: [{ $secret: "A" }], b: 'Bearer {"$secret": "B"}' })).toEqual(["A", "B"]);
  expect(splitAtSecrets('{"a": "x {\\"$secret\\": \\"A\\"}"}').found).toEqual([{ name: "A", escape: "\\" }]);
  for (const text of ['{"$secret": "1A"}', '{"$secret": 5}', '{"$secret": "A", "x": 1}', "$secret"])
    expect(secretsIn(text), text).toEqual([]);
  expect(secretBehind({ $secret: "A" })).toBe("A");
  for (const value of [{ $secret: "A", x: 1 }, { $secret: 1 }, ["A"], "A", null])
    expect(secretBehind(value)).toBeNull();
});

test("a reference alone as a value is kept as its text", () => {
  expect(SecretTemplate.parse({ $secret: "A" })).toBe('{"$secret": "A"}');
  expect(SecretTemplate.safeParse({ $secret: "A", more: 1 }).success).toBe(false);
});

test("inserted values are not scanned for stand-ins", () => {
  const values = new Map([
    ["A", standIn("B")],
    ["B", "b"],
  ]);
  expect(fillIn(`${standIn("A")} ${standIn("B")} ${standIn("C")}`, values)).toBe(
    `${standIn("B")} b ${standIn("C")}`,
  );
});
