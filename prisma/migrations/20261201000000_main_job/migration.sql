
-- CreateTable
CREATE TABLE "project" (
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "setting" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "job" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scheduler" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "detail" TEXT,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "spec" JSON NOT NULL,
    "labels" JSONB NOT NULL,
    "definition_name" TEXT,
    "definition_version" INTEGER,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "seq" INTEGER NOT NULL DEFAULT 1,
    "cancel_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempt" (
    "id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "scheduler" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "detail" TEXT,
    "resolutions" JSON NOT NULL,
    "owner" TEXT,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(6),
    "due_at" TIMESTAMPTZ(6) DEFAULT CURRENT_TIMESTAMP,
    "ring_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "rings" INTEGER NOT NULL DEFAULT 0,
    "submitting_at" TIMESTAMPTZ(3),
    "submitted_at" TIMESTAMPTZ(3),
    "stop_reason" TEXT,
    "outcome" JSONB,
    "started_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "replica" (
    "attempt_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "phase" TEXT NOT NULL,
    "exit_code" INTEGER,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "node" TEXT,
    "native_id" TEXT,
    "native_reason" TEXT,
    "failure" TEXT,

    CONSTRAINT "replica_pkey" PRIMARY KEY ("attempt_id","role","index")
);

-- CreateTable
CREATE TABLE "job_event" (
    "job_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "data" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "job_event_pkey" PRIMARY KEY ("job_id","seq")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "attempt_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "log_stream" (
    "attempt_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "stream" TEXT NOT NULL,
    "size" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "log_stream_pkey" PRIMARY KEY ("attempt_id","role","index","stream")
);

-- CreateTable
CREATE TABLE "log_segment" (
    "attempt_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "stream" TEXT NOT NULL,
    "start" BIGINT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "log_segment_pkey" PRIMARY KEY ("attempt_id","role","index","seq")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "project_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("project_id","route","key")
);

-- CreateTable
CREATE TABLE "job_definition" (
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "retired_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "job_definition_pkey" PRIMARY KEY ("project_id","name")
);

-- CreateTable
CREATE TABLE "job_definition_version" (
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "job" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "job_definition_version_pkey" PRIMARY KEY ("project_id","name","version")
);

-- CreateTable
CREATE TABLE "lease" (
    "name" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "until" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "lease_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "scheduler_health" (
    "name" TEXT NOT NULL,
    "healthy" BOOLEAN NOT NULL,
    "detail" TEXT NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "scheduler_health_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE INDEX "job_project_id_id_idx" ON "job"("project_id", "id");

-- CreateIndex
CREATE INDEX "job_labels_idx" ON "job" USING GIN ("labels" jsonb_path_ops);

-- CreateIndex
CREATE INDEX "attempt_due_at_idx" ON "attempt"("due_at");

-- CreateIndex
CREATE UNIQUE INDEX "attempt_job_id_number_key" ON "attempt"("job_id", "number");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- The project that everything belongs to until there are more.
INSERT INTO "project" ("id") VALUES ('default');

-- Indexes of what is alive stay as small as that is, and an accepted job touches as few as it can.
DROP INDEX "attempt_due_at_idx";
CREATE INDEX "attempt_due_at_idx" ON "attempt" ("due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "attempt_submitted_idx" ON "attempt" ("scheduler") WHERE "submitting_at" IS NOT NULL AND "removed_at" IS NULL;
CREATE INDEX "attempt_deadline_idx" ON "attempt" ("deadline_at") WHERE "deadline_at" IS NOT NULL AND "outcome" IS NULL;
DROP INDEX "job_labels_idx";
CREATE INDEX "job_labels_idx" ON "job" USING GIN ("labels" jsonb_path_ops) WHERE "labels" <> '{}';

-- Output is read far more often than it is compressible in time: no attempt to shrink it on the way.
ALTER TABLE "log_segment" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
