import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** `part` is `dashboard`, or the name of a monitor within the pack. */
export type InstalledPart = { log_id: string; pack: string; part: string; record_id: string; name: string }

/** The records of packs that still exist, with their names. */
export const selectInstalled = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<InstalledPart>(sql`
    select r.log_id, r.pack, r.part, r.record_id, coalesce(d.name, m.name) as name
    from content_pack_records r
    left join dashboards d on d.org_id = r.org_id and d.id = r.record_id
    left join monitors m on m.org_id = r.org_id and m.id = r.record_id
    where r.org_id = ${orgId} and r.log_id = any(${[...logIds]}::uuid[]) and (d.id is not null or m.id is not null)`)

/** Replaces the record of a part, whose earlier one was deleted. */
export const upsertInstalled = (db: Db, orgId: string, { log_id, pack, part, record_id }: Omit<InstalledPart, 'name'>) =>
  db.run(sql`
    insert into content_pack_records (org_id, log_id, pack, part, record_id) values (${orgId}, ${log_id}, ${pack}, ${part}, ${record_id})
    on conflict (log_id, pack, part) do update set record_id = excluded.record_id`)
