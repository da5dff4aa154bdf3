-- CreateTable
CREATE TABLE "webhook" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "label_selector" JSONB NOT NULL,
    "scope" TEXT NOT NULL,
    "delivery_order" TEXT NOT NULL,
    "signing" TEXT NOT NULL,
    "header_names" TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_why" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "paused_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_key" (
    "webhook_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "key_id" TEXT NOT NULL,
    "sealed_key" BYTEA NOT NULL,
    "sealed" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_key_pkey" PRIMARY KEY ("webhook_id","number")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "data" JSONB NOT NULL,
    "event_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "lease_until" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "status" INTEGER,
    "latency_ms" INTEGER NOT NULL,
    "error" TEXT,
    "answer" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_project_id_name_key" ON "webhook"("project_id", "name");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_event_at_id_idx" ON "webhook_delivery"("webhook_id", "event_at", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_event_at_idx" ON "webhook_delivery"("event_at");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_webhook_id_subject_seq_type_key" ON "webhook_delivery"("webhook_id", "subject", "seq", "type");

-- What is to be sent, and what is being sent: few of the many rows, which Prisma's schema cannot say.
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery"("webhook_id", "due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "webhook_delivery_busy" ON "webhook_delivery"("webhook_id", "lease_until") WHERE "lease_until" IS NOT NULL;
