import type { RehydratedFile } from '@dendro/api'
import { useInfiniteQuery } from '@tanstack/react-query'
import { bytes, count } from '../../../parts/chart/numbers.ts'
import { RecordTable } from '../../../parts/records/records.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Button } from '../../../ui/button.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { REHYDRATIONS } from './rehydrations.ts'

const FILES_AT_ONCE = 1_000
const REFRESH_MS = 3_000

const statuses: Readonly<Record<RehydratedFile['status'], string>> = { WAITING: 'waiting', COMPLETE: 'complete', REFUSED: 'refused' }

/** What became of each file, a thousand at a time. */
export function FileReceipts({ id, isAtWork }: { id: string; isAtWork: boolean }) {
  const client = useClient()
  const files = useInfiniteQuery({
    queryKey: [...REHYDRATIONS, id, 'files'],
    queryFn: async ({ pageParam, signal }) =>
      (await client.rehydrations.files({ params: { rehydrationId: id }, query: { after: pageParam }, signal })).files,
    initialPageParam: 0,
    getNextPageParam: (last) => (last.length < FILES_AT_ONCE ? undefined : last.at(-1)?.number),
    ...(isAtWork ? { refetchInterval: REFRESH_MS } : {}),
  })
  if (files.error && !files.data) return <FailureNote thrown={files.error} again={() => files.refetch()} />
  if (!files.data) return <Skeleton className="px-3" />
  const all = files.data.pages.flat()
  if (all.length === 0) return <p className="p-3 text-soft">{isAtWork ? 'The files are being listed.' : 'No file matches.'}</p>
  return (
    <>
      <RecordTable label="Files" rowCount={0}>
        <table aria-label="Files" className="w-full text-xs">
          <thead className="text-left text-soft">
            <tr>
              <th className="px-3 py-1 font-medium">File</th>
              <th className="px-3 py-1 text-right font-medium max-sm:hidden">Size</th>
              <th className="px-3 py-1 text-right font-medium">Read</th>
              <th className="px-3 py-1 text-right font-medium">Stored</th>
              <th className="whitespace-nowrap px-3 py-1 text-right font-medium max-sm:hidden">Stored earlier</th>
              <th className="whitespace-nowrap px-3 py-1 text-right font-medium max-sm:hidden">Not selected</th>
              <th className="px-3 py-1 text-right font-medium">Refused</th>
            </tr>
          </thead>
          <tbody>
            {all.map((file) => (
              <tr key={file.number} className="border-line border-t align-top tabular-nums">
                <td className="wrap-anywhere min-w-32 px-3 py-1">
                  <span className="font-mono">{file.name}</span>{' '}
                  <span className={file.status === 'REFUSED' ? 'text-error' : 'text-soft'}>{statuses[file.status]}</span>
                  {file.failure_detail && <span className="block text-error">{file.failure_detail}</span>}
                </td>
                <td className="whitespace-nowrap px-3 py-1 text-right max-sm:hidden">{bytes(file.bytes)}</td>
                <td className="px-3 py-1 text-right">{count(file.read_events)}</td>
                <td className="px-3 py-1 text-right">{count(file.stored_events)}</td>
                <td className="px-3 py-1 text-right max-sm:hidden">{count(file.earlier_events)}</td>
                <td className="px-3 py-1 text-right max-sm:hidden">{count(file.unselected_events)}</td>
                <td className={`px-3 py-1 text-right ${file.refused_events > 0 ? 'text-error' : ''}`}>{count(file.refused_events)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </RecordTable>
      {files.hasNextPage && (
        <p className="p-2 text-center">
          <Button size="small" disabled={files.isFetchingNextPage} onClick={() => files.fetchNextPage()}>
            {files.isFetchingNextPage ? 'Loading…' : 'Show more files'}
          </Button>
        </p>
      )}
    </>
  )
}
