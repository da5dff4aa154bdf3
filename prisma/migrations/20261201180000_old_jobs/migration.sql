-- Jobs that are over, the oldest first; Prisma's schema cannot say which rows an index has.
CREATE INDEX "job_ended" ON "job"("ended_at") WHERE "ended_at" IS NOT NULL;
