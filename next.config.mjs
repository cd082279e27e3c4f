/** @type {import("next").NextConfig} */
const config = {
  reactCompiler: true,
  agentRules: false,
  poweredByHeader: false,
  distDir: process.env.TROUPE_DIST_DIR ?? ".next",
  // For scripts/package.mjs: copies the package files that the build uses.
  ...(process.env.TROUPE_STANDALONE ? { output: "standalone" } : {}),
  outputFileTracingRoot: import.meta.dirname,
  // A start skips type checks: a type error in a test must not prevent it.
  typescript: { ignoreBuildErrors: !!process.env.SKIP_TYPECHECK },
  // The sandbox loads its engine in a worker thread, from the file; the MCP client starts processes.
  serverExternalPackages: ["better-sqlite3", "@modelcontextprotocol/client"],
  outputFileTracingIncludes: {
    "/docs/**": ["./docs/*.md", "./GLOSSARY.md", "./SECURITY.md"],
    "/*": [
      "./db/migrations/**/*",
      "./server/tools/sandbox/worker.mjs",
      "./server/tools/operator/runner.py",
      "./server/tools/operator/session.py",
    ],
  },
  // The image route is off, and package.json replaces its library with an empty package.
  images: { unoptimized: true },
  experimental: {
    agentUpgrade: false,
    turbopackRustReactCompiler: true,
    turbopackSourceMaps: false,
    turbopackFileSystemCacheForBuild: false,
    // scripts/serve.mjs loads the pages once the server is ready.
    preloadEntriesOnStart: false,
    // With a local server, each request costs more than its content: fewer and larger files, above all for the editor.
    turbopackChunking: {
      requestCost: 1_000_000,
      minChunkSize: 150_000,
      priorityRoutes: [/^\/workflows\/\[id\]$/],
      priorityBoost: 4,
    },
  },
  // Headers of everything that proxy.ts doesn't serve. It sets them for pages, with a content security policy.
  headers: async () => [
    {
      source: "/:path*",
      headers: [
        { key: "X-Content-Type-Options", value: "nosniff" },
        { key: "Referrer-Policy", value: "no-referrer" },
        { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
        { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
        { key: "Permissions-Policy", value: "camera=(), microphone=(), geolocation=()" },
      ],
    },
    // proxy.ts decides which sites may embed form pages.
    { source: "/((?!p/).*)", headers: [{ key: "X-Frame-Options", value: "DENY" }] },
    {
      source: "/api/:path*",
      headers: [
        {
          key: "Content-Security-Policy",
          value: "default-src 'none'; frame-ancestors 'none'; sandbox",
        },
      ],
    },
  ],
};
export default config;
