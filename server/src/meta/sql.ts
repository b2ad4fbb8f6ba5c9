import { sql as kyselySql, type RawBuilder } from 'kysely'
import { toJson } from '../kernel/exact-json.ts'

/** A statement or a fragment of one. Every value in it is a parameter, never text. */
export type Sql = RawBuilder<unknown>

type SqlTag = {
  (text: TemplateStringsArray, ...values: unknown[]): Sql
  /** Joins fragments or values, by default with commas. */
  join(items: readonly unknown[], separator?: Sql): Sql
  /** Quotes names of tables and columns that come from our own code or from the catalog. */
  id(...names: readonly string[]): Sql
}

/**
 * Builds a statement: `sql`select * from monitors where org_id = ${orgId}``. Fragments nest; any other value becomes a parameter, so that
 * no input of a caller reaches the SQL text. The functions that splice text (raw, lit) are left out on purpose; only migrations have them.
 */
export const sql: SqlTag = kyselySql

const LONE_SURROGATES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/**
 * Builds a jsonb parameter. Needed for objects and arrays, because the driver would send an array as an SQL array. Lone surrogates, which
 * PostgreSQL refuses, become U+FFFD; undefined becomes null.
 */
export function json(value: unknown): Sql {
  const text = toJson(value) ?? 'null'
  const wellFormed = text.includes('\\ud') ? text.replace(LONE_SURROGATES, (found) => (found === '\\\\' ? found : '\\ufffd')) : text
  return sql`${wellFormed}::jsonb`
}
