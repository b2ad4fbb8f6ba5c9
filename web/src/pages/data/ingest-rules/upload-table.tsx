import { useState } from 'react'
import { FieldErrorsOf, FormField } from '../../../parts/records/form.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'

type TableFile = { readonly name: string; readonly key: string; readonly csv: string }

/** Creates a lookup table from a file. It stands inside the form of a rule, so it is no form itself. */
export function UploadTable({ onSaved }: { onSaved(name: string): void }) {
  const client = useClient()
  const [file, setFile] = useState<TableFile>()
  const save = useSave((body: TableFile) => client.lookupTables.create({ body }), {
    stale: [['lookup tables']],
    onSaved: ({ name }) => {
      setFile(undefined)
      onSaved(name)
    },
  })
  if (!file) {
    return (
      <label className="flex flex-col gap-0.5 text-soft text-xs">
        New table from a CSV file, whose first line names the columns
        <input
          type="file"
          accept=".csv,text/csv"
          className="text-ink text-sm"
          onChange={async ({ target }) => {
            const [picked] = target.files ?? []
            if (!picked) return
            const csv = await picked.text()
            setFile({ name: picked.name.replace(/\.[^.]*$/, ''), key: headerOf(csv).split(',')[0]?.replaceAll('"', '').trim() ?? '', csv })
          }}
        />
      </label>
    )
  }
  return (
    <FieldErrorsOf thrown={save.error}>
      <fieldset aria-label="New table" className="flex flex-col gap-3 rounded border border-line p-3">
        <FormField name="Name of the table" of="name">
          <Input value={file.name} maxLength={100} onChange={({ target }) => setFile({ ...file, name: target.value })} />
        </FormField>
        <FormField name="Key column" of="key" help={`The columns are ${headerOf(file.csv).slice(0, 200)}.`}>
          <Input className="font-mono" value={file.key} onChange={({ target }) => setFile({ ...file, key: target.value })} />
        </FormField>
        {save.error && <FailureNote thrown={save.error} isSmall />}
        <div className="flex gap-2">
          <Button disabled={file.name.trim() === '' || file.key === '' || save.isPending} onClick={() => save.mutate(file)}>
            Create table
          </Button>
          <Button variant="quiet" onClick={() => setFile(undefined)}>
            Cancel
          </Button>
        </div>
      </fieldset>
    </FieldErrorsOf>
  )
}

const headerOf = (csv: string): string => csv.split(/\r?\n/, 1)[0] ?? ''
