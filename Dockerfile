# The image of rekap. Build it in a clone: docker build --tag rekap:0.1.0 .
# Where you have the digest of the base image, add it: node:24.21.0-bookworm-slim@sha256:…

FROM node:24.21.0-bookworm-slim AS base
WORKDIR /rekap
COPY package.json package-lock.json .npmrc ./

# What rekap needs to run, at the versions of package-lock.json.
FROM base AS modules
RUN npm ci --omit=dev --no-audit --no-fund

# The files of the package, as they would be published.
FROM base AS package
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm pack --silent && tar --extract --file rekap-*.tgz

FROM node:24.21.0-bookworm-slim
WORKDIR /rekap
COPY --from=modules /rekap/node_modules ./node_modules
COPY --from=package /rekap/package ./
RUN chmod +x dist/src/cli/main.js \
  && ln -s /rekap/dist/src/cli/main.js /usr/local/bin/rekap \
  && install --directory --owner=node --group=node /warehouse
# Only /warehouse and /tmp are written to, so the root can be read-only. `serve` and `schedule` listen on the port.
ENV NODE_ENV=production REKAP_WAREHOUSE=/warehouse REKAP_HOST=0.0.0.0 REKAP_PORT=8080 XDG_CACHE_HOME=/tmp
USER 1000
VOLUME /warehouse
EXPOSE 8080
HEALTHCHECK --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.REKAP_PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["rekap"]
CMD ["--help"]
