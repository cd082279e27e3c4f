import { CircleAlert, CircleDashed, TriangleAlert } from "lucide-react";
import type { Mark } from "../flow-mapping";

const ICONS = { error: CircleAlert, warning: TriangleAlert, todo: CircleDashed };

/** What is wrong with a node, or still to do, by sign and colour, in words when pointed at. */
export function MarkIcon({ mark: { severity, text } }: { mark: Mark }) {
  const Icon = ICONS[severity];
  return (
    <span className="node-problem" data-severity={severity} title={text}>
      <Icon aria-hidden size={15} />
      <span className="sr-only">{text}</span>
    </span>
  );
}
