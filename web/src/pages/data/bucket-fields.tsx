import type { ReactNode } from 'react'
import { FormField } from '../../parts/records/form.tsx'
import { Input } from '../../ui/field.tsx'
import type { BucketDraft } from './bucket-access.ts'
import { SecretField } from './secret-field.tsx'

type BucketFieldsProps = {
  draft: BucketDraft
  /** The name of the object in the API, such as `origin.`. */
  of: string
  prefixHelp: string
  keyHelp?: ReactNode
  onChange(change: Partial<BucketDraft>): void
}

/** Edits where a bucket is and how it is reached. */
export const BucketFields = ({ draft, of, prefixHelp, keyHelp, onChange }: BucketFieldsProps) => (
  <>
    <div className="flex flex-wrap gap-3">
      <FormField name="Bucket" of={`${of}bucket`} className="min-w-40 flex-1">
        <Input className="font-mono" value={draft.bucket} maxLength={255} onChange={({ target }) => onChange({ bucket: target.value })} />
      </FormField>
      <FormField name="Prefix" of={`${of}prefix`} help={prefixHelp} className="min-w-40 flex-1">
        <Input className="font-mono" value={draft.prefix} onChange={({ target }) => onChange({ prefix: target.value })} />
      </FormField>
    </div>
    <div className="flex flex-wrap gap-3">
      <FormField name="Access key id" of={`${of}access_key_id`} help={keyHelp} className="min-w-40 flex-1">
        <Input
          className="font-mono"
          value={draft.access_key_id}
          maxLength={255}
          autoComplete="off"
          onChange={({ target }) => onChange({ access_key_id: target.value })}
        />
      </FormField>
      <SecretField
        name="Secret access key"
        of={`${of}secret_access_key`}
        value={draft.secret_access_key}
        className="min-w-40 flex-1"
        onChange={(secret_access_key) => onChange({ secret_access_key })}
      />
    </div>
    <div className="flex flex-wrap gap-3">
      <FormField name="Region" of={`${of}region`} className="min-w-40 flex-1">
        <Input
          className="font-mono"
          value={draft.region}
          maxLength={64}
          placeholder="us-east-1"
          onChange={({ target }) => onChange({ region: target.value })}
        />
      </FormField>
      <FormField
        name="Endpoint"
        of={`${of}endpoint`}
        help="Only for a server with the interface of S3 elsewhere."
        className="min-w-40 flex-1"
      >
        <Input
          className="font-mono"
          value={draft.endpoint}
          maxLength={2048}
          placeholder="https://…"
          onChange={({ target }) => onChange({ endpoint: target.value })}
        />
      </FormField>
    </div>
  </>
)
