/** What a sealed value belongs to: one version of one secret. */
export const contextOf = (id: string, version: number): string => `berth secret ${id} version ${version}`
