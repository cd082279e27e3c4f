/** Where the runner reports errors to the admin. */
export type HostLog = (
  level: "info" | "warn" | "error",
  message: string,
  about?: Record<string, unknown>,
) => void;
