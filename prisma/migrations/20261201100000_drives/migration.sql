-- CreateTable
CREATE TABLE "drive" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "kind" TEXT NOT NULL,
    "access" TEXT NOT NULL,
    "source" JSONB NOT NULL,
    "credentials" JSONB,
    "labels" JSONB NOT NULL,
    "checked" JSONB,
    "used_bytes" BIGINT NOT NULL DEFAULT 0,
    "used_objects" BIGINT NOT NULL DEFAULT 0,
    "seq" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "drive_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "drive_event" (
    "drive_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "drive_event_pkey" PRIMARY KEY ("drive_id","seq")
);

-- CreateTable
CREATE TABLE "drive_commit" (
    "id" TEXT NOT NULL,
    "drive_id" TEXT NOT NULL,
    "on_conflict" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "drive_commit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "key_id" TEXT NOT NULL,
    "sealed_key" BYTEA NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "drive_check" (
    "id" TEXT NOT NULL,
    "drive_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_at" TIMESTAMPTZ(3),

    CONSTRAINT "drive_check_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "drive_project_id_name_key" ON "drive"("project_id", "name");

-- CreateIndex
CREATE INDEX "drive_commit_drive_id_idx" ON "drive_commit"("drive_id");

-- CreateIndex
CREATE UNIQUE INDEX "secret_project_id_name_key" ON "secret"("project_id", "name");

-- CreateIndex
CREATE INDEX "drive_check_drive_id_idx" ON "drive_check"("drive_id");
