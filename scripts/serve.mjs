// Serves the production build, with our own limits on what a client may hold open.
import { readFileSync } from "node:fs";
import { createRequire, flushCompileCache } from "node:module";
import path from "node:path";
import process from "node:process";
import { newHttpServer } from "./http-server.mjs";
import { distDir, giveUp, isPacked, root, startCommand } from "./prepare.mjs";
import { staticAnswers } from "./static-files.mjs";

/** Binds the port at once, then loads the application; requests that come earlier wait for it. */
export async function serve({ host, port, url, dataDir, startedAt }) {
  process.env.NODE_ENV = "production";
  process.env.NEXT_TELEMETRY_DISABLED = "1";
  process.chdir(root);
  // As `node --disable-proto=delete` does: the classic way to pollute prototypes is gone.
  delete Object.prototype.__proto__;

  let answer;
  const ready = Promise.withResolvers();
  const server = newHttpServer((request, response) => {
    if (answer) return answer(request, response);
    ready.promise.then(() => answer(request, response));
  });
  await listen(server, { host, port, url });

  const stop = (signal) => {
    // The application drains by itself and leaves; this is for one that cannot.
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

  // Next's remarks about itself are left out; the boot sends what is printed after it to the log.
  const say = console.log;
  console.log = () => {};
  // Next prepares without waiting for what instrumentation.ts begins: the boot says itself when it is through.
  const booted = new Promise((resolve) => {
    globalThis.__troupeUp = resolve;
  });
  // As the build read it: reading it anew takes what only a build needs, and warns that a package was gathered.
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
    const isStatic = staticAnswers(distDir(), await headersOfFiles());
    // Left there by the boot, which is a part of the build: nothing comes further than this without being looked at.
    const isAnsweredAtEdge = globalThis.__troupeEdge;
    answer = (request, response) =>
      // Named to the watchdog without the query, which may hold secrets.
      globalThis.__troupeExecuting.run(
        { request: `${request.method} ${request.url.split("?", 1)[0]}` },
        () => isAnsweredAtEdge(request, response) || isStatic(request, response) || handle(request, response),
      );
    ready.resolve();
    if (isSupervised) process.send("up");
    // Requests that waited come first: what runs do to the server begins when people can reach it.
    setTimeout(() => globalThis.__troupeServing?.(), 50);
  } catch (error) {
    if (error?.exitCode) giveUp(error.message, error.exitCode);
    console.error(error);
    giveUp(
      isPacked
        ? "Troupe could not start. If the package is damaged, install it again."
        : `Troupe could not start. If the build in ${distDir()} is damaged, delete that folder and start again.`,
    );
  }
  const open = globalThis.__troupeStartLink ?? url;
  say(
    [
      "",
      `  Troupe is ready at ${open}`,
      ...globalThis.__troupeSays.map((sentence) => `  ${sentence}`),
      `  Data: ${dataDir}`,
      `  Started in ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Press Ctrl+C to stop; unfinished runs resume at the next start.`,
      "",
    ].join("\n"),
  );
  setTimeout(loadPages, 1_000);
}

/** Loads the pages one by one with pauses, so that the first visit to each is as quick as later ones. */
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
            ? `Troupe is running already at ${url}: open that address.\nFor a second one, choose another port and another folder: PORT=${port + 1} TROUPE_DATA_DIR=./data-2 ${startCommand}`
            : `Port ${port} is taken by another program.\nChoose another one: PORT=${port + 1} ${startCommand}`,
        );
      if (error.code === "EACCES")
        giveUp(`This user may not use port ${port}.\nChoose one above 1023: PORT=3000 ${startCommand}`);
      if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
        giveUp(`This machine has no address ${host}; HOST must be one of its own.`, 78);
      giveUp(`Port ${port} cannot be opened: ${error.message}`);
    });
    server.listen(port, host, resolve);
  });
}

function builtConfig() {
  const { config } = JSON.parse(readFileSync(path.join(distDir(), "required-server-files.json"), "utf8"));
  return JSON.stringify(config);
}

const MEANT_FOR_FILES = ["X-Content-Type-Options", "Cross-Origin-Resource-Policy"];

/** What the configuration sends with every answer, without what says something to pages only: a page has many files. */
async function headersOfFiles() {
  const { default: config } = await import("../next.config.mjs");
  const all = (await config.headers()).find(({ source }) => source === "/:path*")?.headers ?? [];
  return Object.fromEntries(
    all.filter(({ key }) => MEANT_FOR_FILES.includes(key)).map(({ key, value }) => [key, value]),
  );
}

/** Whether what holds the port is another Troupe. */
async function isTroupe(url) {
  try {
    const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(800) });
    const { status, version } = await response.json();
    return status === "ok" && typeof version === "string";
  } catch {
    return false;
  }
}
