/** The sections of the settings that links can open: anchor, title, and search keywords. */
export const SETTINGS_SECTIONS = [
  { id: "models", title: "Models", keywords: "providers keys prices address openai ollama offline demo" },
  { id: "notices", title: "Notifications", keywords: "webhook email mail inbox alerts" },
  { id: "tokens", title: "API tokens", keywords: "programs http access" },
  { id: "secrets", title: "Secrets", keywords: "keys credentials authorization headers hosts" },
  { id: "variables", title: "Variables", keywords: "values environment vars configuration" },
  { id: "appearance", title: "Appearance", keywords: "theme light dark" },
  { id: "engine", title: "Engine", keywords: "workers restate cluster execution outbox" },
  { id: "storage", title: "Storage", keywords: "retention old runs database space vacuum" },
  { id: "audit", title: "Audit log", keywords: "who changed history permissions log" },
  { id: "about", title: "About", keywords: "version environment license openapi data folder" },
] as const;

export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]["id"];
