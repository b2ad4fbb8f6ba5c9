import { contract } from '@dendro/api'
import { type Routes, routes } from '../http/mount.ts'
import type { Intake } from './intake/intake.ts'
import { native } from './receivers/native/native.ts'
import { otlp } from './receivers/otlp/otlp.ts'

export const ingestionRoutes = (intake: Intake): Routes => ({
  ...routes('ingestion', contract.ingestion, {
    send: intake.rawHandler(native, 'ingestion.send'),
    sendTo: intake.rawHandler(native, 'ingestion.sendTo'),
    otlpLogs: intake.rawHandler(otlp, 'ingestion.otlpLogs'),
    otlpTraces: intake.rawHandler(otlp, 'ingestion.otlpTraces'),
    otlpMetrics: intake.rawHandler(otlp, 'ingestion.otlpMetrics'),
  }),
  findRawHandler: intake.findRawHandler,
})
