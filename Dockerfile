# syntax=docker/dockerfile:1
# Troupe in a container: `docker compose up` (see compose.yaml), or
#   docker build -t troupe . && docker run -p 127.0.0.1:3000:3000 -v troupe:/data -e TROUPE_PASSWORD=... troupe

FROM node:24-slim AS build
WORKDIR /build
COPY . .
# Installs the locked packages, builds, and collects the server's files in dist/app.
RUN npm run pack -- --folder

# Workers (compose.yaml, profile workers) run the sources, with a package that only they need.
FROM node:24-slim AS worker
WORKDIR /troupe
COPY --from=build --chown=node:node /build /troupe
RUN node -e 'import("./scripts/engine-package.mjs").then((m) => m.ensureEnginePackage("worker")).then((why) => why && process.exit(console.error(why) ?? 1))' \
  && rm -rf .next dist && chown -R node:node packages/engine-restate
ENV NODE_ENV=production TROUPE_DATA_DIR=/tmp/troupe
EXPOSE 9081
USER node
STOPSIGNAL SIGTERM
CMD ["node", "scripts/worker.mjs"]

FROM node:24-slim
# Nothing is installed here, so remove npm and yarn: an intruder can't use them.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* \
  && mkdir /data && chown node:node /data && chmod 700 /data
COPY --from=build /build/dist/app /troupe
RUN ln -s /troupe/scripts/troupe.mjs /usr/local/bin/troupe
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 TROUPE_DATA_DIR=/data
# Backups are written here: docker exec troupe troupe backup /data/FILE
WORKDIR /data
VOLUME /data
EXPOSE 3000
USER node
# Uses the loopback address and the server's own port, whatever its public name is.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/v1/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Requires TROUPE_PASSWORD, because other machines can connect.
CMD ["troupe", "start"]
