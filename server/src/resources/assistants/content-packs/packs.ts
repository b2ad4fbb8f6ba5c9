import { accessLogs } from './formats/access-logs.ts'
import type { ContentPack } from './pack.ts'

/** Every content pack. */
export const contentPacks: readonly ContentPack[] = [accessLogs]
