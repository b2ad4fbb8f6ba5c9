export { openJaegerReads } from './routes.ts'
