import { keysIn } from "@/server/domain/graph/secrets";
import { requestHost } from "@/server/domain/library/capabilities";
import { usesOf } from "@/server/domain/nodes";
import { countReferences, isHostOf, SECRET_TOOLS, secretsIn } from "@/server/domain/tool/secret";
import type { NodeCheck } from "../check";
import { nameOf } from "../names";

/** API keys and passwords in the settings of a node. */
export function checkTypedKeys({ report, at, node, kind, isRead }: NodeCheck): void {
  if (!isRead) return;
  const [first] = keysIn(node.config);
  if (!first) return;
  const places = kind.secretPlaces?.(node.config) ?? [];
  const isMovable = places.some(({ field, value }) => field === first.place && typeof value === "string");
  const host = requestHost(usesOf(node));
  report.advice(
    "W_LOOKS_LIKE_A_SECRET",
    { ...at, field: first.place },
    `This looks like a key or password. It is stored in plain text with the workflow and its runs, and removed from exports. ${isMovable ? "Move it to a secret." : "Use a tool whose provider or MCP server stores the key instead."}`,
    isMovable
      ? {
          fix: {
            kind: "move_to_secret",
            node_id: node.id,
            field: first.place,
            host,
            label: "Move to a secret",
          },
        }
      : {},
  );
}

/** Whether the secrets that a node names exist, and may be used for its host and this workflow. */
export function checkSecrets({ report, at, node, kind, here }: NodeCheck): void {
  const written = countReferences(node.config);
  if (written === 0) return;
  const found = (kind.secretPlaces?.(node.config) ?? []).flatMap(({ field, value }) =>
    secretsIn(value).map((name) => ({ field, name })),
  );
  const tool = usesOf(node).find((use) => use.kind === "tool");
  if (tool && !SECRET_TOOLS.includes(tool.name))
    report.error(
      "E_SECRET_NOT_FOR_TOOL",
      at,
      `${nameOf(node)} can't send secrets with ${tool.name}, only with ${SECRET_TOOLS.join(" or ")}. Use an HTTP request node.`,
    );
  else if (written > found.length)
    report.warning(
      "W_SECRET_NOT_FILLED",
      at,
      `${nameOf(node)} has a reference to a secret that isn't filled in. Write {"$secret": "NAME"} in a header, a query parameter or the body of a request.`,
    );
  const host = requestHost(usesOf(node));
  const seen = new Set<string>();
  for (const { field, name } of found) {
    const secret = seen.has(name) ? undefined : here.secrets?.(name);
    if (seen.has(name) || !here.secrets) continue;
    seen.add(name);
    const place = { ...at, field };
    if (!secret)
      report.error(
        "E_UNKNOWN_SECRET",
        place,
        `${nameOf(node)} uses the secret ${name}, which doesn't exist. Add it in Settings.`,
      );
    else if (!secret.isForThis)
      report.error(
        "E_SECRET_NOT_FOR_WORKFLOW",
        place,
        `This workflow may not use the secret ${name}. Allow it in Settings.`,
      );
    else if (host !== "" && !isHostOf(secret.hosts, host))
      report.error(
        "E_SECRET_NOT_FOR_HOST",
        place,
        `${nameOf(node)} would send the secret ${name} to ${host}, but it may only be sent to ${secret.hosts.join(", ")}. Change the URL, or the secret's hosts in Settings.`,
      );
  }
}
