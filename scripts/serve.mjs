// Serves the production build.
import { readFileSync } from "node:fs";
import { createRequire, flushCompileCache } from "node:module";
import path from "node:path";
import process from "node:process";
import { newHttpServer } from "./http-server.mjs";
import { distDir, giveUp, isPacked, root, startCommand } from "./prepare.mjs";
import { staticAnswers } from "./static-files.mjs";

/** Binds the port at once, then loads the application. Earlier requests wait for it. */
export async function serve({ host, port, url, dataDir, startedAt }) {
  process.env.NODE_ENV = "production";
  process.env.NEXT_TELEMETRY_DISABLED = "1";
  process.chdir(root);
  // Like `node --disable-proto=delete`: prevents prototype pollution through __proto__.
  delete Object.prototype.__proto__;

  let handleRequest;
  const ready = Promise.withResolvers();
  const server = newHttpServer((request, response) => {
    if (handleRequest) return handleRequest(request, response);
    ready.promise.then(() => handleRequest(request, response));
  });
  await listen(server, { host, port, url });

  const stop = (signal) => {
    // The application drains and exits on its own. This is for one that can't.
    setTimeout(() => process.exit(signal === "SIGINT" ? 130 : 143), 12_000).unref();
    server.close();
    server.closeIdleConnections();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  const isSupervised = process.env.TROUPE_LAST_END !== undefined && process.connected;
  if (isSupervised) {
    process.on("message", (signal) => process.emit(signal));
    process.on("disconnect", () => process.exit(1));
  }

  // Suppresses what Next.js prints about itself. After boot, console output goes to the log.
  const print = console.log;
  console.log = () => {};
  // prepare() doesn't wait for what instrumentation.ts starts, so the boot reports when it has finished.
  const booted = new Promise((resolve) => {
    globalThis.__troupeUp = resolve;
  });
  // The configuration that the build read: loading it again needs modules of the build, and prints a warning.
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = builtConfig();
  try {
    const { default: next } = await import("next");
    const application = next({
      dev: false,
      dir: root,
      hostname: host,
      port,
      quiet: true,
      conf: undefined,
      httpServer: server,
    });
    await application.prepare();
    await booted;
    const handle = application.getRequestHandler();
    const serveStatic = staticAnswers(distDir(), await staticHeaders());
    // Set by the boot, which is part of the build: every request passes this filter first.
    const isHandledByFilter = globalThis.__troupeEdge;
    handleRequest = (request, response) =>
      // The watchdog gets the request without its query and without a webhook's key, since both may be secret.
      globalThis.__troupeExecuting.run(
        { request: `${request.method} ${request.url.split("?", 1)[0].replace(/^(\/hooks\/).*/, "$1…")}` },
        () =>
          isHandledByFilter(request, response) || serveStatic(request, response) || handle(request, response),
      );
    ready.resolve();
    if (isSupervised) process.send("up");
    // Waiting requests come first: runs resume once people can reach the server.
    setTimeout(() => globalThis.__troupeServing?.(), 50);
  } catch (error) {
    if (error?.exitCode) giveUp(error.message, error.exitCode);
    console.error(error);
    giveUp(
      isPacked
        ? "Troupe couldn't start. If the package is damaged, install it again."
        : `Troupe couldn't start. If the build in ${distDir()} is damaged, delete that folder and start again.`,
    );
  }
  const address = globalThis.__troupeStartLink ?? url;
  print(
    [
      "",
      `  Troupe is ready at ${address}`,
      ...globalThis.__troupeSays.map((sentence) => `  ${sentence}`),
      `  Data: ${dataDir}`,
      `  Started in ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Press Ctrl+C to stop; unfinished runs resume at the next start.`,
      "",
    ].join("\n"),
  );
  setTimeout(loadPages, 1_000);
}

/** Preloads the pages one by one with pauses, so that the first visit to each is as fast as later ones. */
async function loadPages() {
  const server = path.join(distDir(), "server");
  const require = createRequire(path.join(server, "pages.js"));
  const pages = JSON.parse(readFileSync(path.join(server, "app-paths-manifest.json"), "utf8"));
  for (const file of Object.values(pages)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    require(path.join(server, file));
  }
  flushCompileCache?.();
}

function listen(server, { host, port, url }) {
  return new Promise((resolve) => {
    server.once("error", async (error) => {
      if (error.code === "EADDRINUSE")
        giveUp(
          (await isTroupe(url))
            ? `Troupe is already running at ${url}.\nTo start a second one, use another port and data folder: PORT=${port + 1} TROUPE_DATA_DIR=./data-2 ${startCommand}`
            : `Port ${port} is in use by another program.\nUse another port: PORT=${port + 1} ${startCommand}`,
        );
      if (error.code === "EACCES")
        giveUp(
          `This user isn't allowed to use port ${port}.\nUse a port above 1023: PORT=3000 ${startCommand}`,
        );
      if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
        giveUp(`This machine doesn't have the address ${host}. Set HOST to an address of this machine.`, 78);
      giveUp(`Can't open port ${port}: ${error.message}`);
    });
    server.listen(port, host, resolve);
  });
}

function builtConfig() {
  const { config } = JSON.parse(readFileSync(path.join(distDir(), "required-server-files.json"), "utf8"));
  return JSON.stringify(config);
}

const STATIC_HEADERS = ["X-Content-Type-Options", "Cross-Origin-Resource-Policy"];

/** The configured headers that matter for files. The others concern pages only, and a page has many files. */
async function staticHeaders() {
  const { default: config } = await import("../next.config.mjs");
  const all = (await config.headers()).find(({ source }) => source === "/:path*")?.headers ?? [];
  return Object.fromEntries(
    all.filter(({ key }) => STATIC_HEADERS.includes(key)).map(({ key, value }) => [key, value]),
  );
}

/** Whether another Troupe uses the port. */
async function isTroupe(url) {
  try {
    const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(800) });
    const { status, version } = await response.json();
    return status === "ok" && typeof version === "string";
  } catch {
    return false;
  }
}
