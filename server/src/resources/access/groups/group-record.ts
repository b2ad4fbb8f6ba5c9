import type { UserGroup } from '@dendro/api'
import { conflict } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { UserGroupRow } from './rows.ts'

export const shownGroup = (row: UserGroupRow): UserGroup => ({
  group_id: row.id,
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  created_at: row.created_at,
  modified_at: row.modified_at,
  metadata: metadataOf(row),
})

export const nameTaken = (name: string) => conflict(`a group called ${name} already exists`)
