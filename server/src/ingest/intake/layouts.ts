import { Failure } from '../../kernel/errors.ts'
import type { DatasetLayout, LayoutFindings } from '../../lines/layout/catalog.ts'
import { growLayouts, locateAll } from '../../resources/data/catalog/catalog.ts'
import type { IntakeWorld } from './intake-world.ts'

/**
 * Records what layouts must learn before events are stored. While the metadata store is down, datasets with a complete layout continue without it: new keys
 * go to the overflow map, and rows keep the length of their periods.
 */
export async function growLayoutsOf(world: IntakeWorld, orgId: string, found: ReadonlyMap<string, LayoutFindings>): Promise<void> {
  if (found.size === 0) return
  try {
    await growLayouts(world, orgId, found)
  } catch (cause) {
    const isPassing = cause instanceof Failure && cause.status === 503
    const known = isPassing ? await locateAll(world, orgId, [...found.keys()]) : []
    if (!isPassing || !known.every(isComplete)) throw cause
  }
}

const isComplete = (layout: DatasetLayout | undefined): boolean => layout !== undefined && layout.periods.length > 0
