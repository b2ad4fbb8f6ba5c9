import type { World } from '../../../world.ts'

/** An ExportWorld is what the making of a file takes of the world. */
export type ExportWorld = Pick<World, 'clock' | 'log' | 'meta' | 'events' | 'blobStore' | 'usage' | 'deployment' | 'admission'>
