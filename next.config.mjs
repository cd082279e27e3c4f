/** @type {import("next").NextConfig} */
const config = {
  reactCompiler: true,
  agentRules: false,
  poweredByHeader: false,
  distDir: process.env.TROUPE_DIST_DIR ?? ".next",
  // The start path skips type checking: a wrong type in a test must not stop a person's `npm start`.
  typescript: { ignoreBuildErrors: !!process.env.SKIP_TYPECHECK },
  serverExternalPackages: ["better-sqlite3"],
  outputFileTracingIncludes: { "/*": ["./db/migrations/**/*"] },
  experimental: { agentUpgrade: false },
};
export default config;
