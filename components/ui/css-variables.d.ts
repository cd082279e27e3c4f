import "react";

declare module "react" {
  /** The variables of the style sheets that a component sets. */
  interface CSSProperties {
    /** How much of the drawing's right side a panel covers. */
    "--inset-right"?: string;
    "--inspector-width"?: string;
  }
}
