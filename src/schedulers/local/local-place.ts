/** How jobs are kept apart from the machine: in a sandbox of their own, or (links) not at all. */
export type Isolation = 'bubblewrap' | 'links'

/** Where the attempts of one local scheduler are, and how they are kept. */
export interface LocalPlace {
  readonly root: string
  readonly installation: string
  readonly isolation: Isolation
}
