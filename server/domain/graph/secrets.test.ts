import { expect, test } from "vitest";
import { keyAt, keysIn, withoutSecrets, withReference } from "./secrets";

const KEY = "a1B2c3D4e5F6g7H8";

test.each([
  ["a header", { headers: { Authorization: `Bearer ${KEY}` } }, "headers.Authorization"],
  ["a query parameter", { query: { api_key: KEY } }, "query.api_key"],
  ["a field of a body", { body: `{"user": "me", "api_key": "${KEY}"}` }, "body"],
  ["a body, by its form", { body: `token=sk-${KEY}${KEY}` }, "body"],
])("a key in %s is found, and doesn't leave with a file", (_what, config, place) => {
  expect(keysIn(config).map((found) => found.place)).toEqual([place]);
  expect(keyAt(config, place)).toContain(KEY);
  expect(JSON.stringify(withoutSecrets(config))).not.toContain(KEY);
});

test("references to secrets, placeholders and prompts are no keys", () => {
  const config = {
    headers: { Authorization: 'Bearer {"$secret": "KEY"}', "x-api-key": "{{ state.key }}" },
    body: '{"api_key": {"$secret": "KEY"}, "token": "{{ state.token }}"}',
    task_description_template: '{"password": "correcthorse"}',
  };
  expect(keysIn(config)).toEqual([]);
  expect(withoutSecrets(config)).toEqual(config);
});

test("a reference takes the place of a key, as JSON needs it", () => {
  expect(withReference(`Bearer ${KEY}`, KEY, "A")).toBe('Bearer {"$secret": "A"}');
  expect(withReference(`{"key": "${KEY}"}`, KEY, "A")).toBe('{"key": {"$secret": "A"}}');
  expect(withReference(`{"auth": "Bearer ${KEY}"}`, KEY, "A")).toBe(
    '{"auth": "Bearer {\\"$secret\\": \\"A\\"}"}',
  );
  expect(withReference(`key=${KEY}&x=$&`, KEY, "A")).toBe('key={"$secret": "A"}&x=$&');
});
