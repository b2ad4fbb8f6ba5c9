import type { KafkaOrigin, S3Origin, SourceOrigin } from '@dendro/api'
import { FormField } from '../../../parts/records/form.tsx'
import { Input, Select } from '../../../ui/field.tsx'
import { BucketFields } from '../bucket-fields.tsx'
import { KafkaFields } from '../kafka-fields.tsx'
import type { OriginDraft } from './source-draft.ts'

const kinds: readonly (readonly [SourceOrigin['kind'], string])[] = [
  ['DIRECTORY', 'Files of a directory'],
  ['KAFKA', 'A topic of Kafka'],
  ['S3', 'Objects in a bucket (S3)'],
]

const messageFormats: readonly (readonly [KafkaOrigin['format'], string])[] = [
  ['TEXT', 'A message is an event'],
  ['JSON', 'Each object in a message is an event'],
  ['OTLP', 'Logs of OpenTelemetry (OTLP)'],
]

const objectFormats: readonly (readonly [S3Origin['format'], string])[] = [
  ['LINES', 'Each line is an event'],
  ['RECORDS', 'Each object in a list is an event'],
]

const starts: Readonly<Record<SourceOrigin['kind'], readonly (readonly [SourceOrigin['start'], string])[]>> = {
  DIRECTORY: [
    ['BEGINNING', 'All lines of the files that are there'],
    ['END', 'Only lines that are added from now on'],
  ],
  KAFKA: [
    ['BEGINNING', 'All messages that the topic has'],
    ['END', 'Only messages from now on'],
  ],
  S3: [
    ['BEGINNING', 'All objects that are there'],
    ['END', 'Only objects from now on'],
  ],
}

type OriginFieldsProps = {
  draft: OriginDraft
  /** What exists already is read once, so that nothing is chosen about the beginning, and topics are left out. */
  isOnce?: boolean
  onChange(draft: OriginDraft): void
}

/** Edits an origin of its kind. */
export function OriginFields({ draft, isOnce = false, onChange }: OriginFieldsProps) {
  const set = (change: Partial<OriginDraft>) => onChange({ ...draft, ...change })
  const { kind, directory, kafka, bucket, start } = draft
  return (
    <>
      <FormField name="Kind" of="origin.kind">
        <Select
          value={kind}
          options={isOnce ? kinds.filter(([one]) => one !== 'KAFKA') : kinds}
          onPick={(picked) => set({ kind: picked })}
        />
      </FormField>
      {kind === 'DIRECTORY' && (
        <>
          <FormField
            name="Directory"
            of="origin.directory"
            help="On the machine of the service, below a directory that the operator has opened to you (DENDRO_SOURCE_DIRECTORIES)."
          >
            <Input
              className="font-mono"
              value={directory.directory}
              maxLength={1024}
              placeholder="/var/log/shop"
              onChange={({ target }) => set({ directory: { ...directory, directory: target.value } })}
            />
          </FormField>
          <FormField
            name="Files"
            of="origin.files"
            help={`* and ? stand for characters of a name, ** for any folders${isOnce ? ', as in 2026/11/**.' : '. It should match rotated files too, as app.log* does.'}`}
          >
            <Input
              className="font-mono"
              value={directory.files}
              maxLength={255}
              onChange={({ target }) => set({ directory: { ...directory, files: target.value } })}
            />
          </FormField>
        </>
      )}
      {kind === 'KAFKA' && (
        <>
          <KafkaFields
            draft={kafka}
            of="origin."
            topicHelp="One topic; it must exist."
            onChange={(change) => set({ kafka: { ...kafka, ...change } })}
          />
          <div className="flex flex-wrap gap-3">
            <FormField name="Messages" of="origin.format" className="min-w-48 flex-1">
              <Select value={kafka.format} options={messageFormats} onPick={(format) => set({ kafka: { ...kafka, format } })} />
            </FormField>
            <FormField name="Consumer group" of="origin.group" help="Of the source alone, if empty." className="min-w-48 flex-1">
              <Input
                className="font-mono"
                value={kafka.group}
                maxLength={255}
                onChange={({ target }) => set({ kafka: { ...kafka, group: target.value } })}
              />
            </FormField>
          </div>
        </>
      )}
      {kind === 'S3' && (
        <>
          <BucketFields
            draft={bucket}
            of="origin."
            prefixHelp={isOnce ? 'The beginning of the keys.' : 'All keys below it are listed at each look, so name as few as needed.'}
            onChange={(change) => set({ bucket: { ...bucket, ...change } })}
          />
          <FormField name="Content" of="origin.format">
            <Select value={bucket.format} options={objectFormats} onPick={(format) => set({ bucket: { ...bucket, format } })} />
          </FormField>
        </>
      )}
      {!isOnce && (
        <FormField name="Read" of="origin.start">
          <Select value={start} options={starts[kind]} onPick={(picked) => set({ start: picked })} />
        </FormField>
      )}
    </>
  )
}
