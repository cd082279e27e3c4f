/** @type {import("next").NextConfig} */
const config = {
  reactCompiler: true,
  agentRules: false,
  poweredByHeader: false,
  distDir: process.env.TROUPE_DIST_DIR ?? ".next",
  // For scripts/package.mjs: copies the package files that the build uses.
  ...(process.env.TROUPE_STANDALONE ? { output: "standalone" } : {}),
  outputFileTracingRoot: import.meta.dirname,
  // The start path skips type checking: a wrong type in a test must not stop a person's `npm start`.
  typescript: { ignoreBuildErrors: !!process.env.SKIP_TYPECHECK },
  // The sandbox loads its engine in a thread of its own, from the file; the MCP client starts processes.
  serverExternalPackages: ["better-sqlite3", "@modelcontextprotocol/client"],
  outputFileTracingIncludes: {
    "/*": [
      "./db/migrations/**/*",
      "./server/tools/sandbox/worker.mjs",
      "./server/tools/operator/runner.py",
      "./server/tools/operator/session.py",
    ],
  },
  // Its image route is switched off, and package.json puts an empty package in the place of the library it would load.
  images: { unoptimized: true },
  experimental: {
    agentUpgrade: false,
    turbopackRustReactCompiler: true,
    turbopackSourceMaps: false,
    turbopackFileSystemCacheForBuild: false,
    // scripts/serve.mjs loads the pages once the server is ready.
    preloadEntriesOnStart: false,
    // Beside the browser a request costs more than what it brings: fewer and larger files, most so for the drawing.
    turbopackChunking: {
      requestCost: 1_000_000,
      minChunkSize: 150_000,
      priorityRoutes: [/^\/workflows\/\[id\]$/],
      priorityBoost: 4,
    },
  },
  // Pages get these and a policy of their own from proxy.ts; what it does not serve gets them here.
  headers: async () => [
    {
      source: "/:path*",
      headers: [
        { key: "X-Content-Type-Options", value: "nosniff" },
        { key: "Referrer-Policy", value: "no-referrer" },
        { key: "X-Frame-Options", value: "DENY" },
        { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
        { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
        { key: "Permissions-Policy", value: "camera=(), microphone=(), geolocation=()" },
      ],
    },
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
