-- CreateTable
CREATE TABLE "drive_removal" (
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "drive_removal_pkey" PRIMARY KEY ("id")
);
