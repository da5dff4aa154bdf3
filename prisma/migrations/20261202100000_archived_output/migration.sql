-- AlterTable
ALTER TABLE "job" ADD COLUMN "output_removed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "log_block" (
    "attempt_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "first_seq" INTEGER NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "stdout_end" BIGINT NOT NULL,
    "stderr_end" BIGINT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_block_pkey" PRIMARY KEY ("attempt_id","role","index","first_seq")
);

-- CreateTable
CREATE TABLE "log_work" (
    "attempt_id" TEXT NOT NULL,
    "act" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_work_pkey" PRIMARY KEY ("attempt_id")
);

-- CreateIndex
CREATE INDEX "log_work_due_at_idx" ON "log_work"("due_at");

-- CreateIndex
CREATE INDEX "drive_event_at_idx" ON "drive_event"("at");

-- Jobs whose output is there, the oldest first; Prisma's schema cannot say which rows an index has.
CREATE INDEX "job_with_output" ON "job"("ended_at") WHERE "ended_at" IS NOT NULL AND "output_removed_at" IS NULL;

-- What ended before there was an archive.
INSERT INTO "log_work" ("attempt_id", "act", "due_at")
SELECT a."id", 'archive', now() FROM "attempt" a JOIN "log_stream" s ON s."attempt_id" = a."id"
WHERE a."removed_at" IS NOT NULL GROUP BY a."id" HAVING sum(s."size") >= 16384;
