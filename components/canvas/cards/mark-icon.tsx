import { CircleAlert, CircleDashed, TriangleAlert } from "lucide-react";
import type { Mark } from "../flow-mapping";

const ICONS = { error: CircleAlert, warning: TriangleAlert, todo: CircleDashed };

/** The worst problem or to-do of a node as an icon, with its text on hover. */
export function MarkIcon({ mark: { severity, text } }: { mark: Mark }) {
  const Icon = ICONS[severity];
  return (
    <span className="node-problem" data-severity={severity} title={text}>
      <Icon aria-hidden size={15} />
      <span className="sr-only">{text}</span>
    </span>
  );
}
