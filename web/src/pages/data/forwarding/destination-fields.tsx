import { FormField } from '../../../parts/records/form.tsx'
import { Input, Select, TextArea } from '../../../ui/field.tsx'
import { BucketFields } from '../bucket-fields.tsx'
import { KafkaFields } from '../kafka-fields.tsx'
import { brokenHeaders, type DestinationDraft, type StorageClass } from './forward-draft.ts'

const types = [
  ['S3', 'Bucket (S3)'],
  ['HTTP', 'URL, or another Dendro'],
  ['KAFKA', 'Topics of Kafka'],
] as const

const storageClasses: readonly (readonly [StorageClass, string])[] = [
  ['STANDARD', 'Standard'],
  ['STANDARD_IA', 'Infrequent access'],
  ['GLACIER_IR', 'Archive, instant retrieval'],
]

type DestinationFieldsProps = { draft: DestinationDraft; onChange(draft: DestinationDraft): void }

/** Edits a destination of its kind. */
export function DestinationFields({ draft, onChange }: DestinationFieldsProps) {
  const set = (change: Partial<DestinationDraft>) => onChange({ ...draft, ...change })
  return (
    <>
      <FormField name="Kind" of="destination.destination_type">
        <Select value={draft.type} options={types} onPick={(type) => set({ type })} />
      </FormField>
      {draft.type === 'S3' && <Bucket draft={draft.bucket} onChange={(bucket) => set({ bucket })} />}
      {draft.type === 'HTTP' && (
        <>
          <FormField
            name="URL"
            of="destination.url"
            help="Gets a POST for each payload. For another Dendro: its URL of ingestion, such as https://logs.example.org/ingest, and JSON lines as the format, so that events keep their times and datasets."
          >
            <Input
              className="font-mono"
              value={draft.url}
              maxLength={2048}
              placeholder="https://…"
              onChange={({ target }) => set({ url: target.value })}
            />
          </FormField>
          <FormField
            name="Headers"
            of="destination.headers"
            help={
              brokenHeaders(draft.headers).length > 0
                ? 'Each line needs a colon after the name.'
                : 'One in each line, as name: value, such as authorization: Bearer …. Values are stored encrypted and shown as ***.'
            }
          >
            <TextArea
              className="font-mono"
              rows={3}
              autoComplete="off"
              value={draft.headers}
              onChange={({ target }) => set({ headers: target.value })}
            />
          </FormField>
        </>
      )}
      {draft.type === 'KAFKA' && (
        <KafkaFields
          draft={draft.kafka}
          of="destination."
          topicHelp="{collection} and {dataset} stand for those of an event. Topics must exist."
          onChange={(change) => set({ kafka: { ...draft.kafka, ...change } })}
        />
      )}
    </>
  )
}

type BucketProps = { draft: DestinationDraft['bucket']; onChange(draft: DestinationDraft['bucket']): void }

function Bucket({ draft, onChange }: BucketProps) {
  const set = (change: Partial<DestinationDraft['bucket']>) => onChange({ ...draft, ...change })
  return (
    <>
      <BucketFields
        draft={draft}
        of="destination."
        prefixHelp="The folder of all objects; may be empty."
        keyHelp="Without a key the bucket must be that of the operator."
        onChange={set}
      />
      <div className="flex flex-wrap gap-3">
        <FormField
          name="Folders"
          of="destination.path_template"
          help="Also {collection} and {dataset}; the hour is that of arrival."
          className="min-w-40 flex-1"
        >
          <Input
            className="font-mono"
            value={draft.path_template}
            maxLength={255}
            onChange={({ target }) => set({ path_template: target.value })}
          />
        </FormField>
        <FormField name="Storage class" of="destination.storage_class" className="min-w-40 flex-1">
          <Select value={draft.storage_class} options={storageClasses} onPick={(storage_class) => set({ storage_class })} />
        </FormField>
      </div>
    </>
  )
}
