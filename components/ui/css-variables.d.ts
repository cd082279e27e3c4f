import "react";

declare module "react" {
  /** The variables of the style sheets that a component sets. */
  interface CSSProperties {
    /** How much of the drawing's right side a panel covers. */
    "--inset-right"?: string;
    "--inspector-width"?: string;
    /** How much of the run's page its panel takes: of the width, or on a phone of the height. */
    "--run-wide"?: string;
    "--run-tall"?: string;
  }
}
