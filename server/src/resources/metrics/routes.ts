import { contract } from '@dendro/api'
import type { Meter } from '../../http/measure.ts'
import { type Routes, routes } from '../../http/mount.ts'

export const metricsRoutes = (meter: Meter): Routes => routes('metrics', contract.metrics, { get: () => meter.print() })
