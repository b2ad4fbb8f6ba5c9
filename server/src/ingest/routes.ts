import { contract } from '@dendro/api'
import { type Routes, routes } from '../http/mount.ts'
import type { Intake } from './intake/intake.ts'
import { native } from './receivers/native/native.ts'
import { otlp } from './receivers/otlp/otlp.ts'

export const ingestionRoutes = (intake: Intake): Routes => ({
  ...routes('ingestion', contract.ingestion, {
    send: intake.taker(native, 'ingestion.send'),
    sendTo: intake.taker(native, 'ingestion.sendTo'),
    otlpLogs: intake.taker(otlp, 'ingestion.otlpLogs'),
    otlpTraces: intake.taker(otlp, 'ingestion.otlpTraces'),
    otlpMetrics: intake.taker(otlp, 'ingestion.otlpMetrics'),
  }),
  takers: intake.takers,
})
