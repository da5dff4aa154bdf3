# Berth without an embedded PostgreSQL: it wants DATABASE_URL, and REDIS_URL where several processes share the work.
FROM node:24-bookworm-slim AS base
WORKDIR /berth
COPY package.json package-lock.json ./

# Scripts of packages only build accelerators that Berth does without; and our own would build before there is a source.
FROM base AS build
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY script/copy-assets.mjs script/
COPY src src
RUN npm run build

FROM base AS dependencies
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production BERTH_HOST=0.0.0.0 BERTH_DATA_DIR=/var/lib/berth
RUN mkdir /var/lib/berth && chown node:node /var/lib/berth
WORKDIR /berth
COPY package.json ./
COPY --from=dependencies /berth/node_modules node_modules
COPY prisma/migrations prisma/migrations
COPY --from=build /berth/dist dist
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BERTH_PORT || 8080}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
