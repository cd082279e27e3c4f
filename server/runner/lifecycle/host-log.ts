/** Where the runner tells whoever runs the server what went wrong. */
export type HostLog = (
  level: "info" | "warn" | "error",
  message: string,
  about?: Record<string, unknown>,
) => void;
