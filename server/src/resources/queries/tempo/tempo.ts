export { openTempoReads } from './routes.ts'
