"use client";

import { useState } from "react";
import { countOf } from "@/components/display/format";
import { ImportDialog } from "@/components/import-export/import-dialog";
import { pastedFile } from "@/components/import-export/sent-files";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { readWorkflow } from "@/server/domain/graph/document/document";
import { useEditorCommands } from "../commands";
import { fragmentOf } from "../editing/fragment";
import { useUi, useUiStore } from "../ui-store";

/** A whole workflow was pasted: import it as a new one, or add its nodes here. */
export function IncomingDialog() {
  const incoming = useUi((ui) => ui.incoming);
  return incoming ? <Open key={incoming.text} {...incoming} /> : null;
}

function Open({ text, at }: { text: string; at: { x: number; y: number } }) {
  const ui = useUiStore();
  const commands = useEditorCommands();
  const [isImporting, setImporting] = useState(false);
  const [read] = useState(() => readWorkflow(text));
  const [files] = useState(() => pastedFile(text));
  const close = () => ui.setState({ incoming: null });
  const { graph, name, findings, tests } = read;
  if (isImporting || !graph) return <ImportDialog onClose={close} files={files} />;
  const count = Object.keys(graph.nodes).length;
  const insert = () => {
    close();
    commands.insert(fragmentOf(graph, Object.keys(graph.nodes)), at);
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      size="sm"
      title={name ? `Paste “${name}”` : "Paste workflow"}
      description={`${countOf(count, "node")} and ${countOf(graph.edges.length, "connection")}. Insert them here or import them as a new workflow?`}
      footer={
        <>
          <Button onClick={insert}>Insert here</Button>
          <Button variant="primary" onClick={() => setImporting(true)}>
            Import as new workflow
          </Button>
        </>
      }
    >
      {Array.isArray(tests) && tests.length > 0 ? (
        <p className="text-[13px] text-ink-2">
          Importing it as a new workflow also imports its{" "}
          {tests.length === 1 ? "test" : `${tests.length} tests`}.
        </p>
      ) : null}
      {findings.length > 0 && (
        <ul className="flex flex-col gap-1 text-[13px] text-ink-2">
          {findings.slice(0, 6).map(({ at, message }) => (
            <li key={`${at} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
