import { describe, expect, test } from "vitest";
import { type Held, missingIn } from "./held";

/*
 * Attacks on products that start workflows automatically, with the tests that cover each. Renaming or removing such a test
 * fails here until it is replaced.
 */

const SCOPES = "http-api/scopes.test.ts";
const FORMS = "http-api/triggers/forms.test.ts";
const HOOKS = "http-api/triggers/webhooks.test.ts";
const SECRETS = "tools/secrets.test.ts";
const FORM_PAGE = "../e2e/form-page.spec.ts";

const ATTACKS: Readonly<Record<string, readonly Held[]>> = {
  "a public address is given a graph to run (CVE-2026-33017)": [
    [FORMS, "a graph to run"],
    [FORMS, "a visitor sees the title, the description and the inputs of the workflow, and nothing else"],
    [SCOPES, "every file of routes is guarded as listed"],
  ],
  "the ID of a foreign workflow or run is taken for the right to it (CVE-2026-55255)": [
    [SCOPES, "a foreign workflow doesn't exist for a limited token"],
    [SCOPES, "counts and sums are those of the token's own workflows"],
    [SCOPES, "each needs the scope to read, and the run of a foreign workflow isn't there"],
    [SCOPES, "a limited token can't make its workflow run a foreign one"],
  ],
  "the right to read is enough to run (GHSA-h3jj-5f3v-3685)": [
    [SCOPES, "a token without an operation's scope is refused, whatever the workflow, and nothing changes"],
    [SCOPES, "reading is not enough to run, retry, fork, replay, test or answer anything"],
    [SCOPES, "every endpoint needs the scope of its operation, or is in the list of public ones"],
  ],
  "a request sets fields that only the server writes (CVE-2026-46441)": [
    [SCOPES, "the API refuses them by name in every write"],
    [SCOPES, "an operation never gets them"],
    [SCOPES, "a workflow file sets neither the ID nor the revision nor the permissions of its workflow"],
  ],
  "a webhook accepts a delivery without or with a wrong signature (CVE-2026-86080)": [
    [HOOKS, "no signature"],
    [HOOKS, "no stored secret"],
    [HOOKS, "a timestamp that is too old"],
    [HOOKS, "the key is stored as a hash, shown once, and can be replaced"],
    [HOOKS, "unknown, disabled and deleted webhooks are 404 alike"],
  ],
  "a signed request is sent again": [
    [HOOKS, "the same ID again gets the same answer and starts no run"],
    [
      HOOKS,
      "GitHub's signature covers the body alone, so the same body under another ID is the same delivery",
    ],
    [
      "http-api/triggers/service-kill.test.ts",
      "one ID twice is one run, also if the server is killed in between",
    ],
  ],
  "a key goes to another host (CVE-2026-56348)": [
    [SECRETS, "nothing is sent to a host that the secret isn't for"],
    [SECRETS, "a redirect to another host doesn't carry the secret"],
    ["conformance/secrets.test.ts", "a secret that is missing, or whose host a value decides, stops the run"],
    ["conformance/secrets.test.ts", "a model, an input and a state value can't have a secret filled in"],
    ["http-api/secrets.test.ts", "a further host requires entering the value again"],
  ],
  "a public page is framed by another site": [
    [FORM_PAGE, "a form works in a frame of a site of its list, and is not shown on another"],
    [FORM_PAGE, "only the page of the form may be embedded, and it loads nothing of the editor"],
  ],
};

describe("attacks", () => {
  test.each(Object.entries(ATTACKS))("are covered by existing tests: %s", (_attack, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(missingIn(tests)).toEqual([]);
  });
});
