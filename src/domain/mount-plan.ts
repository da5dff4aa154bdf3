import type { Access, Mount } from './mount.ts'

/** How one mount will be made. A mount yields plans; a scheduler renders the `via`s that it lists in its capabilities. */
export type MountPlan =
  | { readonly via: 'named_volume'; readonly volume: string; readonly path: string; readonly readOnly: boolean }
  | { readonly via: 'host_path'; readonly hostPath: string; readonly path: string; readonly readOnly: boolean }
  | { readonly via: 'device'; readonly hostPath: string; readonly path: string; readonly permissions: string }
  | { readonly via: 'tmpfs'; readonly path: string; readonly sizeMiB: number | null; readonly readOnly: boolean }

export type MountVia = MountPlan['via']

/** A way that was considered for a mount: taken, or dropped with a reason. */
export interface Candidate {
  readonly via: MountVia
  readonly taken: boolean
  /** Why it was dropped; null for the one that was taken. */
  readonly reason: string | null
}

/** How one mount of one role was made real; stored with the attempt and shown in every preview. */
export interface Resolution {
  readonly role: string
  readonly path: string
  readonly access: Access
  readonly mount: Mount
  readonly plan: MountPlan
  readonly candidates: readonly Candidate[]
}
