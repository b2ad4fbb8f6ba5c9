import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

/** The peer of bench/http.ts: a bare Fastify handler that answers the bytes of the file it is given, and nothing else. */
const [port, file] = process.argv.slice(2)
const body = readFileSync(file ?? '', 'utf8')
const app = Fastify()
app.get('/health', async () => ({ status: 'ok' }))
app.get('/', async (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(body))
await app.listen({ host: '127.0.0.1', port: Number(port) })
