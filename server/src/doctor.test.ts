import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, 'main.ts')

async function doctor(args: readonly string[], env: Record<string, string> = {}): Promise<{ status: number; output: string }> {
  const own = { PATH: process.env.PATH ?? '', DENDRO_DATA_DIR: '/nonexistent', ...env }
  return promisify(execFile)(process.execPath, [MAIN, 'doctor', ...args], { env: own, maxBuffer: 2 ** 24 }).then(
    ({ stdout, stderr }) => ({ status: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ status: code, output: stdout + stderr }),
  )
}

test('the plan of a cluster is printed for the name that is given or that of the settings, without any store', async () => {
  const given = await doctor(['--plan', '--cluster-name', 'blue'])
  expect([given.status, given.output.split('\n')[1]]).toEqual([0, "create database if not exists dendro on cluster 'blue';"])
  const set = await doctor(['--plan'], { DENDRO_CLICKHOUSE_URL: 'http://u:secret@127.0.0.1:9/logs?cluster=green' })
  expect([set.status, set.output.split('\n')[1]]).toEqual([0, "create database if not exists logs on cluster 'green';"])
  expect(set.output).not.toContain('secret')
})

test.each<[string[], string]>([
  [['--plan'], 'give --cluster-name NAME'],
  [['--plan', '--cluster-name', "a' b"], '--cluster-name may have letters, digits and _'],
  [['--cluster-name', 'blue'], '--cluster-name belongs to --plan'],
  [['--cluster'], 'give the address of the cluster'],
  [['http://127.0.0.1:9/'], 'only --cluster takes an address'],
  [['--cluster', 'http://127.0.0.1:9/dendro'], 'the address names no cluster'],
  [['--nosuch'], "Unknown option '--nosuch'"],
])('doctor %j is refused with a sentence', async (args, sentence) => {
  const { status, output } = await doctor(args)
  expect([status, output]).toEqual([1, expect.stringContaining(sentence)])
})
