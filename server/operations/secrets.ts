import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { secretsOfGraph } from "@/server/domain/library/capabilities";
import { SecretHosts, SecretName, SecretValue } from "@/server/domain/tool/secret-schemas";
import { Time } from "./common-schemas";
import { operationsOf } from "./operation";
import { notFound } from "./rejections";
import type { Services } from "./services";

const { mutation, query } = operationsOf("Server");

const Value = SecretValue.meta({ description: "Never returned" });
const Hosts = SecretHosts.meta({
  description: "Hosts that it may be sent to: exact names, or *.example.com for all below example.com",
});
const Workflows = z
  .array(z.string().max(200))
  .max(1_000)
  .nullable()
  .default(null)
  .meta({ description: "IDs of the workflows that may use it; null: all" });
const ByName = z.object({ name: z.string() });

const ListedSecret = z.object({
  name: SecretName,
  hint: z.string().nullable().meta({ description: "The last 4 characters of a long value" }),
  hosts: z.array(z.string()),
  workflows: z.array(z.string()).nullable(),
  used_by: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .meta({ description: "Workflows that use it" }),
  created_at: Time,
  updated_at: Time,
});

/** Named secrets for HTTP requests of workflows. Values are write-only. */
export const secretOperations = {
  list: query({
    name: "listSecrets",
    summary: "List named secrets",
    about: "Names, hosts and uses. Values are never returned.",
    // Authors of workflows need the names.
    needs: "author",
    input: z.void(),
    output: z.array(ListedSecret),
    http: { route: "GET /secrets", success: "The secrets by name", as: "secrets" },
    run(services) {
      const uses = usesIn(services);
      return services.secrets.list().map((secret) => ({
        ...secret,
        used_by: uses.flatMap(({ id, name, secret: used }) => (used === secret.name ? { id, name } : [])),
      }));
    },
  }),

  create: mutation({
    name: "createSecret",
    summary: "Create a named secret",
    about:
      'Workflows use it as {"$secret": "NAME"} in headers, query parameters and bodies of HTTP requests. It is sent to its hosts only and never stored with runs.',
    needs: "admin",
    input: z.object({ name: SecretName, value: Value, hosts: Hosts, workflows: Workflows }),
    output: z.object({ name: z.string() }),
    problems: ["name_taken"],
    audits: ["secret_added"],
    http: { route: "POST /secrets", status: 201, success: "Created", location: "/secrets/{name}" },
    run({ secrets }, input, { note }) {
      const { name, hosts } = input;
      if (!secrets.create(input))
        throw new Rejection("name_taken", `There is already a secret named ${name}.`);
      note("secret_added", { secret: name, hosts });
      return { name };
    },
  }),

  change: mutation({
    name: "changeSecret",
    summary: "Change a named secret",
    about: "Without a value, the stored one is kept. Adding a host requires the value again.",
    needs: "admin",
    input: ByName.extend({ value: Value.optional(), hosts: Hosts, workflows: Workflows }),
    problems: ["not_found", "bad_request"],
    audits: ["secret_changed"],
    http: { route: "PUT /secrets/{name}", success: "Saved" },
    run({ secrets }, { name, ...input }, { note }) {
      const before = secrets.find(name);
      if (!before) throw notFound("secret");
      const { value, hosts } = input;
      if (value === undefined && hosts.some((host) => !before.hosts.includes(host)))
        throw new Rejection(
          "bad_request",
          "Enter the value again to add a host: a secret is only sent to hosts it was entered for.",
        );
      secrets.change(name, input);
      note("secret_changed", { secret: name, hosts, value: value === undefined ? "kept" : "replaced" });
    },
  }),

  remove: mutation({
    name: "deleteSecret",
    summary: "Delete a named secret",
    about: "Requests of workflows that use it fail from then on.",
    needs: "admin",
    input: ByName,
    audits: ["secret_removed"],
    http: { route: "DELETE /secrets/{name}", success: "Deleted" },
    run({ secrets }, { name }, { note }) {
      if (!secrets.remove(name)) throw notFound("secret");
      note("secret_removed", { secret: name });
    },
  }),
};

/** Which workflows use which secrets. */
const usesIn = ({ workflows }: Pick<Services, "workflows">) =>
  workflows
    .list()
    .flatMap(({ id, name, graph }) => secretsOfGraph(graph).map((secret) => ({ secret, id, name })));
