import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isNightly } from '../support/nightly.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../support/world.ts'

/**
 * Clients that generators of others make from the OpenAPI document, in the nightly run: the generators come from the registries. Before a merge the laws
 * of test/contract/document.test.ts hold what these generators stumble over.
 */
const hasPython = isNightly && spawnSync('python3', ['-m', 'venv', '--help']).status === 0
const hasGo = isNightly && spawnSync('go', ['version']).status === 0

const PYTHON_GENERATOR = 'openapi-python-client==0.29.1'
const TYPES_GENERATOR = 'openapi-typescript@7.13.0'
const GO_GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

let folder: string
let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dendro-foreign-'))
  app = await openTestApp()
  org = await app.newOrganization()
  await writeFile(join(folder, 'openapi.json'), JSON.stringify((await app.ask('GET', '/openapi.json')).body))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Runs a program that must succeed, and returns what it printed. */
function run(command: string, args: readonly string[], env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' })
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout + stderr
}

/** Like run, for a program that calls the service of this process. */
async function output(command: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env: { ...process.env, ...env } })
  return stdout
}

describe.skipIf(!isNightly)('a client of a foreign generator', () => {
  test.skipIf(!hasPython)('in Python has every operation, and calls with defaults left out', async () => {
    run('python3', ['-m', 'venv', 'python'])
    run(join(folder, 'python/bin/pip'), ['install', '--quiet', PYTHON_GENERATOR])
    const printed = run(join(folder, 'python/bin/openapi-python-client'), [
      ...['generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none'],
    ])
    expect(printed).not.toMatch(/Could not find reference|Failure to process schema|ERROR/)
    const program = `import os
from client import Client
from client.api.usage import usage_users, usage_organization
client = Client(base_url=os.environ["DENDRO_URL"], headers={"X-SERVICE-API-KEY": os.environ["DENDRO_API_KEY"]})
print(usage_users.sync(client=client).name, usage_organization.sync(client=client).name)
`
    await writeFile(join(folder, 'program.py'), program)
    const env = { DENDRO_URL: app.url, DENDRO_API_KEY: org.key }
    expect(await output(join(folder, 'python/bin/python'), ['program.py'], env)).toBe('search ingestion\n')
  })

  test('in TypeScript compiles', async () => {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', TYPES_GENERATOR, 'typescript@5'])
    run('npx', ['openapi-typescript', 'openapi.json', '-o', 'client.d.ts'])
    const program = `import type { paths } from './client.d.ts'
export const query: NonNullable<paths['/usage/users']['get']['parameters']['query']> = { limit: 1 }
`
    await writeFile(join(folder, 'program.ts'), program)
    run('npx', ['tsc', '--noEmit', '--strict', '--allowImportingTsExtensions', '--module', 'nodenext', 'program.ts'])
  })

  test.skipIf(!hasGo)('in Go compiles', async () => {
    await writeFile(join(folder, 'go.mod'), 'module dendro\n\ngo 1.24\n')
    const env = { GOPATH: join(folder, 'gopath'), GOFLAGS: '-modcacherw -mod=mod' }
    run('go', ['run', GO_GENERATOR, '-package', 'dendro', '-generate', 'types,client', '-o', 'dendro.go', 'openapi.json'], env)
    run('go', ['mod', 'tidy'], env)
    run('go', ['build', './...'], env)
    expect(await readdir(folder)).toContain('dendro.go')
  })
})
