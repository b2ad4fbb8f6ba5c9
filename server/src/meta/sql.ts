import { sql as kyselySql, type RawBuilder } from 'kysely'

/** Sql is a statement or a piece of one; every value in it is a parameter, never text. */
export type Sql = RawBuilder<unknown>

type SqlTag = {
  (text: TemplateStringsArray, ...values: unknown[]): Sql
  /** join puts pieces or values in a row, with a comma unless told otherwise. */
  join(items: readonly unknown[], separator?: Sql): Sql
  /** id quotes names of tables and columns that come from our own code or from the catalog. */
  id(...names: readonly string[]): Sql
}

/**
 * sql writes a statement: `sql`select * from monitors where org_id = ${orgId}``. Pieces nest; anything else becomes a parameter, so that no
 * caller's byte reaches SQL text. What could splice text in (raw, lit) is left out on purpose; migrations alone have it.
 */
export const sql: SqlTag = kyselySql

const LONE_SURROGATES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/**
 * json makes a jsonb parameter; objects and arrays want it, since the driver would send an array as an SQL array. Half surrogate pairs, which
 * JavaScript allows and PostgreSQL does not, become U+FFFD; undefined is null.
 */
export function json(value: unknown): Sql {
  const text = JSON.stringify(value) ?? 'null'
  const wellFormed = text.includes('\\ud') ? text.replace(LONE_SURROGATES, (found) => (found === '\\\\' ? found : '\\ufffd')) : text
  return sql`${wellFormed}::jsonb`
}
