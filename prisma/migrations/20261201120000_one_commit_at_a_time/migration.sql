-- AlterTable
ALTER TABLE "drive" ADD COLUMN     "commits" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "drive_check" DROP COLUMN "claimed_at";

-- AlterTable
ALTER TABLE "drive_commit" ADD COLUMN     "figures" JSONB NOT NULL DEFAULT '{"count": 0, "bytes": 0, "keys": [], "addedBytes": 0, "addedObjects": 0}',
ADD COLUMN     "mover_until" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "done_at" TIMESTAMPTZ(3),
ALTER COLUMN "drive_id" DROP NOT NULL;
ALTER TABLE "drive_commit" ALTER COLUMN "figures" DROP DEFAULT,
ALTER COLUMN "mover_until" DROP DEFAULT;

-- DropIndex
DROP INDEX "drive_commit_drive_id_idx";

-- Indexes that Prisma cannot say: of rows that are looked for alone.
CREATE UNIQUE INDEX "drive_commit_pending_key" ON "drive_commit" ("drive_id") WHERE "done_at" IS NULL;
CREATE INDEX "drive_commit_done_idx" ON "drive_commit" ("done_at") WHERE "done_at" IS NOT NULL;
