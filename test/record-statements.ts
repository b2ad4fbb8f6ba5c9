import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'

/** Where DENDRO_TEST_STATEMENTS names a directory, every worker of a run writes down each statement that PostgreSQL has answered, once. */
const dir = process.env.DENDRO_TEST_STATEMENTS

const answered = Symbol.for('dendro.statements')
const shared = globalThis as { [answered]?: Set<string> }

if (dir !== undefined && shared[answered] === undefined) {
  const { default: pg } = await import('pg')
  const seen = new Set<string>()
  shared[answered] = seen
  const file = join(dir, `${process.pid}.jsonl`)
  const note = (text: string, values: unknown): void => {
    if (seen.has(text)) return
    seen.add(text)
    appendFileSync(file, `${JSON.stringify({ text, values }, (_, value) => (typeof value === 'bigint' ? String(value) : value))}\n`)
  }
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const recorded = function (this: Client, ...args: unknown[]): unknown {
    const [text, values, told] = args
    if (typeof text !== 'string' || !Array.isArray(values)) return query.apply(this, args)
    if (typeof told === 'function') {
      return query.call(this, text, values, (cause: unknown, result: unknown) => {
        if (!cause) note(text, values)
        told(cause, result)
      })
    }
    return (query.apply(this, args) as Promise<unknown>).then((result) => {
      note(text, values)
      return result
    })
  }
  pg.Client.prototype.query = recorded as typeof pg.Client.prototype.query
}
