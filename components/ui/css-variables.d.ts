import "react";

declare module "react" {
  /** CSS variables that components set. */
  interface CSSProperties {
    /** The width of the canvas that the panel on the right covers. */
    "--inset-right"?: string;
    "--inspector-width"?: string;
    /** The share of the run page that its panel takes: of the width, or of the height on phones. */
    "--run-wide"?: string;
    "--run-tall"?: string;
  }
}
