export { openLokiReads } from './routes.ts'
