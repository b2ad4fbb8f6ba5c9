import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDeps } from './database.fixture.ts'
import { diagnoseMeta } from './doctor.ts'
import { openMeta } from './meta.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dendro-doctor-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const bad = async (options: { dataDir: string; url?: string }) => (await diagnoseMeta(options)).filter((finding) => !finding.ok)
const whats = async () => (await diagnoseMeta({ dataDir })).map((finding) => finding.what).join('\n')

test('before the first start nothing is wrong and nothing is created', async () => {
  const dir = join(dataDir, 'not-there')
  expect(await bad({ dataDir: dir })).toEqual([])
  await expect(chmod(dir, 0o700)).rejects.toThrow('ENOENT')
})

test('a running store answers and is up to date; a stopped one is reported', async () => {
  const meta = await openMeta({ dataDir }, testDeps)
  expect(await bad({ dataDir })).toEqual([])
  expect(await whats()).toContain('its tables are up to date')
  await meta.close()
  expect(await whats()).toContain('is not running now')
})

test('a directory open to others, and a server that does not answer, come with advice', async () => {
  await chmod(dataDir, 0o755)
  expect(await bad({ dataDir })).toMatchObject([{ what: expect.stringContaining('open to other users'), advice: `chmod 700 ${dataDir}` }])
  expect(await bad({ dataDir, url: 'postgresql://127.0.0.1:1/none' })).toMatchObject([
    { advice: expect.stringContaining('DENDRO_POSTGRES_URL') },
  ])
})
