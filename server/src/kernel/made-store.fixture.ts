import { execFile } from 'node:child_process'
import { access, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from './clock.ts'

/**
 * Data directories with an empty store after its first start. Each is made once in a test run, by the first test that needs it, and copied by all:
 * a first start takes the event store 0.25 CPU seconds more than a later one, and the metadata store 0.75.
 */

const WAIT_MS = 50
/** Names the parent of all made directories, which belongs to this run. */
const HOME = 'DENDRO_TEST_MADE_STORES'

export function keepMadeStoresIn(home: string): void {
  process.env[HOME] = home
}

/** Copies what `make` leaves in a data directory into another one; `make` is the same for all callers with this name. */
export async function copyMadeStore(name: 'events' | 'meta', dataDir: string, make: (dataDir: string) => Promise<void>): Promise<void> {
  const home = process.env[HOME]
  if (home === undefined) throw new Error('made stores are there in test runs only')
  const [unfinished, made] = [join(home, `${name}-unfinished`), join(home, name)]
  await mkdir(home, { recursive: true })
  if (await isFirst(join(home, `${name}-begun`))) {
    await mkdir(unfinished, { mode: 0o700 })
    await make(unfinished)
    await rename(unfinished, made)
  }
  while (!(await exists(made))) await systemClock.sleep(WAIT_MS)
  await promisify(execFile)('cp', ['-a', `${made}/.`, dataDir])
}

/** Whether this is the first caller; one caller makes the directory. */
const isFirst = (dir: string): Promise<boolean> =>
  mkdir(dir).then(
    () => true,
    (cause) => {
      if (cause.code === 'EEXIST') return false
      throw cause
    },
  )

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
