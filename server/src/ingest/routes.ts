import { contract } from '@dendro/api'
import { type Routes, routes } from '../http/mount.ts'
import type { Intake } from './intake.ts'
import { native } from './receivers/native/native.ts'

export const ingestionRoutes = (intake: Intake): Routes => ({
  ...routes('ingestion', contract.ingestion, {
    send: intake.taker(native, 'ingestion.send'),
    sendTo: intake.taker(native, 'ingestion.sendTo'),
  }),
  takers: intake.takers,
})
