-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "queue_deadline_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "retry_of" TEXT;
