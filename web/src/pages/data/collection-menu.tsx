import type { Dataset } from '@dendro/api'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'

type CollectionProps = { collection: string; datasets: readonly Dataset[] }

/** Renames or deletes a collection by changing each of its datasets. */
export const CollectionMenu = ({ collection }: { collection: string }) => (
  <Popover
    label={`Collection ${collection}`}
    trigger={
      <Button size="small" variant="quiet" aria-label={`Edit the collection ${collection}`}>
        Edit <Icon of={ChevronDown} size="small" />
      </Button>
    }
  >
    <div className="flex w-72 max-w-full flex-col gap-2">
      <CollectionForms collection={collection} />
    </div>
  </Popover>
)

/** Loads all datasets of the collection, also those that the list does not show. */
function CollectionForms({ collection }: { collection: string }) {
  const client = useClient()
  const read = useQuery({
    queryKey: ['datasets', 'of collection', collection],
    queryFn: async ({ signal }) => (await client.datasets.list({ query: { collection, sort: 'name' }, signal })).datasets,
  })
  return (
    <Loaded of={read}>
      {(datasets) => (
        <>
          <Rename collection={collection} datasets={datasets} />
          <DeleteAll collection={collection} datasets={datasets} />
        </>
      )}
    </Loaded>
  )
}

function Rename({ collection, datasets }: CollectionProps) {
  const client = useClient()
  const [done, setDone] = useState(0)
  const rename = async (name: string) => {
    setDone(0)
    for (const { id } of datasets) {
      await client.datasets.update({ params: { datasetId: id }, body: { collection: name } })
      setDone((before) => before + 1)
    }
  }
  return (
    <Form
      action="Rename"
      label={`Rename the collection ${collection}`}
      layout="column"
      stale={['datasets']}
      conflict="collection"
      onSend={(text) => rename(text('collection'))}
    >
      <FormField name="Name of the collection" of="collection" help={renameHelp(datasets.length)}>
        <Input name="collection" required maxLength={255} defaultValue={collection} autoComplete="off" />
      </FormField>
      {done > 0 && done < datasets.length && (
        <p role="status" className="text-soft text-xs">
          {done} of {datasets.length} renamed
        </p>
      )}
    </Form>
  )
}

const renameHelp = (many: number): string =>
  `${many === 1 ? 'Its dataset is' : `Its ${many} datasets are`} renamed too. Events sent to the old name create it again.`

function DeleteAll({ collection, datasets }: CollectionProps) {
  const client = useClient()
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const [done, setDone] = useState<number>()
  const [failure, setFailure] = useState<unknown>()
  const removeAll = async () => {
    setFailure(undefined)
    setDone(0)
    try {
      for (const { id } of datasets) {
        await client.datasets.remove({ params: { datasetId: id } })
        setDone((before) => (before ?? 0) + 1)
      }
    } catch (thrown) {
      setFailure(thrown)
    }
    setDone(undefined)
    await queries.invalidateQueries({ queryKey: ['datasets'] })
  }
  if (!isConfirming)
    return (
      <Button className="mx-3 mb-2 self-start" onClick={() => setConfirming(true)}>
        Delete collection…
      </Button>
    )
  return (
    <div className="mx-3 mb-2 flex flex-col gap-2 border-line border-t pt-3">
      <p>
        Delete “{collection}” and {datasets.length === 1 ? '1 dataset' : `${datasets.length} datasets`}:{' '}
        {datasets.map((one) => one.dataset).join(', ')}? Their events and tags are deleted. This cannot be undone.
      </p>
      {failure !== undefined && <FailureNote thrown={failure} />}
      <div className="flex gap-2">
        <Button variant="main" disabled={done !== undefined} onClick={removeAll}>
          {done === undefined ? 'Delete collection' : `${done} of ${datasets.length} deleted`}
        </Button>
        <Button onClick={() => setConfirming(false)}>Cancel</Button>
      </div>
    </div>
  )
}
