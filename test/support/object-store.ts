import { buildApp } from 'fauxqs'

/** A server with the interface of S3; it has an address once it listens. */
export const openObjectStore = () => buildApp({ logger: false })
