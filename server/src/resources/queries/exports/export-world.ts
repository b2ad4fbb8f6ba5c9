import type { World } from '../../../world.ts'

/** The dependencies of writing an export. */
export type ExportWorld = Pick<World, 'clock' | 'log' | 'meta' | 'events' | 'blobStore' | 'usage' | 'deployment' | 'admission'>
