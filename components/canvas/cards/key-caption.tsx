import type { WorkflowNode } from "@/server/domain/graph/graph";

/** The slip under a card that is pointed at: which keys of the state a node reads and writes. */
export function KeyCaption({ node }: { node: WorkflowNode }) {
  const reads = [...node.input_keys, ...node.optional_input_keys];
  const writes = node.output_keys;
  if (reads.length + writes.length === 0) return null;
  return (
    <dl className="node-slip node-keys">
      <Keys title="Reads" keys={reads} />
      <Keys title="Writes" keys={writes} />
    </dl>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {keys.map((key) => (
          <code key={key}>{key}</code>
        ))}
      </dd>
    </div>
  );
}
