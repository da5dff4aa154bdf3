/** An image's name, taken apart as `POST /images/create` wants it. */
export interface ImageReference {
  /** Host (and port) of its registry; `docker.io` where it names none. */
  readonly registry: string
  readonly fromImage: string
  /** Never empty: the daemon would fetch every tag. A digest such as `sha256:…` stands here as well. */
  readonly tag: string
}

/** Host rules of Docker: the first part is a host if it has a dot or a colon, or is `localhost`. */
export function parseImageReference(image: string): ImageReference {
  const [head = '', ...others] = image.split('/')
  const named = others.length > 0 && (/[.:]/.test(head) || head === 'localhost')
  const registry = named ? head : 'docker.io'
  const digest = image.indexOf('@')
  if (digest >= 0) return { registry, fromImage: image.slice(0, digest), tag: image.slice(digest + 1) }
  const colon = image.lastIndexOf(':')
  if (colon > image.lastIndexOf('/')) return { registry, fromImage: image.slice(0, colon), tag: image.slice(colon + 1) }
  return { registry, fromImage: image, tag: 'latest' }
}
