# One image, one process: the service and its two child servers. glibc is needed by the event store's library.
# The base is named by its exact version. Whoever builds for others gives it with its digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
FROM ${NODE_IMAGE} AS install
WORKDIR /dendro
COPY package.json package-lock.json .npmrc ./
COPY api/package.json api/
COPY language/package.json language/
COPY server/package.json server/
COPY cli/package.json cli/
COPY web/package.json web/
COPY test/package.json test/
COPY bench/package.json bench/
COPY clients/javascript/package.json clients/javascript/
RUN npm ci --omit=dev --workspace api --workspace language --workspace server --workspace cli

FROM ${NODE_IMAGE} AS web
WORKDIR /dendro
COPY package.json package-lock.json .npmrc ./
COPY api/package.json api/
COPY language/package.json language/
COPY server/package.json server/
COPY cli/package.json cli/
COPY test/package.json test/
COPY bench/package.json bench/
COPY clients/javascript/package.json clients/javascript/
COPY web/package.json web/
RUN npm ci --workspace api --workspace language --workspace cli --workspace web
COPY LICENSE ./
COPY api api
COPY language language
COPY cli cli
COPY web web
RUN npx vite build web && node cli/build.ts

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Dendro" org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /dendro
COPY --from=install /dendro/node_modules node_modules
COPY package.json LICENSE runtime.mjs ./
COPY api api
COPY language language
COPY server server
COPY cli/package.json cli/dendro.mjs cli/
COPY --from=web /dendro/cli/dist cli/dist
COPY --from=web /dendro/web/dist web/dist
RUN mkdir /data && chown node:node /data && chmod 700 /data
USER node
ENV NODE_ENV=production DENDRO_HOST=0.0.0.0 DENDRO_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# The certificate names the public host, not this address.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "const s = process.env.DENDRO_TLS_CERT ? 'https' : 'http'; process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`${s}://127.0.0.1:8080/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "--initial-old-space-size=128", "server/src/main.ts", "start"]
