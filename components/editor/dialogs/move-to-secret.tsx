"use client";

import { SecretForm } from "@/components/forms/secret-form";
import { recordOf } from "@/server/domain/base/guards";
import { keyAt, withReference } from "@/server/domain/graph/secrets";
import type { Fix } from "@/server/domain/problems/problems";
import { useEditorCommands } from "../commands";
import { useEditor } from "../editing/editor-store";

type MoveFix = Extract<Fix, { kind: "move_to_secret" }>;

/** Stores the key in a field as a secret for the host of its node, and replaces it with a reference. */
export function MoveToSecret({
  fix: { node_id, field, host, label },
  onClose,
}: {
  fix: MoveFix;
  onClose: () => void;
}) {
  const commands = useEditorCommands();
  const [setting = "", ...rest] = field.split(".");
  const name = rest.join(".");
  const config = recordOf(useEditor(({ doc }) => doc.graph.nodes[node_id]?.config));
  const key = keyAt(config, field);
  const text = String(name === "" ? config[setting] : recordOf(config[setting])[name]);
  return (
    <SecretForm
      saved={null}
      start={{ name: nameFor(name || setting), value: key, hosts: host }}
      onSaved={(secret) =>
        void commands.fix({
          kind: "set_config",
          node_id,
          path: name === "" ? [setting] : [setting, name],
          value: withReference(text, key, secret),
          label,
        })
      }
      onClose={onClose}
    />
  );
}

const nameFor = (header: string): string =>
  header
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^[^A-Z]+/, "")
    .slice(0, 64) || "KEY";
