import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contract } from '../../api/src/contract.ts'
import { openApiDocument } from '../../api/src/openapi.ts'
import { pythonClient } from '../../clients/python/generator/python-client.ts'
import { openTestApp, type TestApp } from '../support/world.ts'

/** The Python client tests itself with pytest against this service. */
const folder = join(import.meta.dirname, '../../clients/python')
const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app?.close())

test.skipIf(!hasPytest)('the tests of the Python client pass (needs python3 with pytest)', async () => {
  const { key } = await app.newOrganization()
  const child = spawn('python3', ['-m', 'pytest', '-q', '--rootdir', folder, join(folder, 'tests')], {
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', DENDRO_URL: app.url, DENDRO_API_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [status] = await once(child, 'close')
  expect(status, output).toBe(0)
})

test('the Python client is the one generated from the contract: `node clients/python/generator/generate.ts` writes it', () => {
  const generated = pythonClient(openApiDocument(contract, { servers: [{ url: '/' }] }))
  expect(readFileSync(join(folder, 'dendro/api.py'), 'utf8') === generated).toBe(true)
})
