import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'

/** When DENDRO_TEST_STATEMENTS names a directory, every worker of a test run records each statement that PostgreSQL has executed, once. */
const dir = process.env.DENDRO_TEST_STATEMENTS

const recordedKey = Symbol.for('dendro.statements')
const shared = globalThis as { [recordedKey]?: Set<string> }

if (dir !== undefined && shared[recordedKey] === undefined) {
  const { default: pg } = await import('pg')
  const seen = new Set<string>()
  shared[recordedKey] = seen
  const file = join(dir, `${process.pid}.jsonl`)
  const record = (text: string, values: unknown): void => {
    if (seen.has(text)) return
    seen.add(text)
    appendFileSync(file, `${JSON.stringify({ text, values }, (_, value) => (typeof value === 'bigint' ? String(value) : value))}\n`)
  }
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const recordingQuery = function (this: Client, ...args: unknown[]): unknown {
    const [text, values, callback] = args
    if (typeof text !== 'string' || !Array.isArray(values)) return query.apply(this, args)
    if (typeof callback === 'function') {
      return query.call(this, text, values, (cause: unknown, result: unknown) => {
        if (!cause) record(text, values)
        callback(cause, result)
      })
    }
    return (query.apply(this, args) as Promise<unknown>).then((result) => {
      record(text, values)
      return result
    })
  }
  pg.Client.prototype.query = recordingQuery as typeof pg.Client.prototype.query
}
