import { recordOf } from "@/server/domain/base/guards";
import { withoutUndefined } from "@/server/domain/base/objects";
import { withMentioned } from "@/server/domain/graph/keys/mentioned-keys";
import { renameKey } from "@/server/domain/graph/keys/rename-key";
import { routerRoutes } from "@/server/domain/graph/router-routes";
import { type Hit, replaceText } from "@/server/domain/graph/search/search";
import { getNodeKind, withSettings } from "@/server/domain/nodes";
import { edit, withNode } from "./edits";

/** Edits that parse templates and expressions. Loaded with the forms, so that the canvas opens without a parser. */
export const textEdits = {
  setConfig: edit<{ id: string; patch: Record<string, unknown> }>({
    id: "set_config",
    label: "Edit settings",
    apply(graph, { id, patch }) {
      const node = graph.nodes[id];
      if (!node) return graph;
      const kind = getNodeKind(node.node_type);
      // The schema of the kind reports the error; a half-written value must not be lost.
      const written = withoutUndefined({ ...node.config, ...patch });
      const labels = routerRoutes(graph, id)?.routes.map(({ label }) => label) ?? [];
      const config: unknown = kind.follow?.(node.config, written, labels) ?? written;
      // Written as the kind writes it: its own schema judges it.
      return withNode(graph, withMentioned(node, withSettings(node, recordOf(config))));
    },
  }),

  replaceText: edit<{ hits: readonly Hit[]; replacement: string }>({
    id: "replace_text",
    label: "Replace",
    apply: (graph, { hits, replacement }) => replaceText(graph, hits, replacement),
  }),

  renameKey: edit<{ from: string; to: string }>({
    id: "rename_key",
    label: "Rename key",
    apply: (graph, { from, to }) => renameKey(graph, from, to),
  }),
};
