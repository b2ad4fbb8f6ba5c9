import type { ReactNode } from 'react'
import { FormField } from '../../parts/records/form.tsx'
import { Input, Select, TextArea } from '../../ui/field.tsx'
import type { KafkaDraft, KafkaLogin } from './kafka-access.ts'
import { SecretField } from './secret-field.tsx'

const mechanisms: readonly (readonly [KafkaLogin | '', string])[] = [
  ['', 'PLAIN'],
  ['SCRAM-SHA-256', 'SCRAM-SHA-256'],
  ['SCRAM-SHA-512', 'SCRAM-SHA-512'],
]

type KafkaFieldsProps = {
  draft: KafkaDraft
  /** The name of the object in the API, such as `origin.`. */
  of: string
  topicHelp: ReactNode
  onChange(change: Partial<KafkaDraft>): void
}

/** Edits how a cluster of Kafka is reached. */
export const KafkaFields = ({ draft, of, topicHelp, onChange }: KafkaFieldsProps) => (
  <>
    <FormField name="Brokers" of={`${of}brokers`} help="As host:port, separated by commas. One that answers is enough.">
      <Input
        className="font-mono"
        value={draft.brokers}
        placeholder="kafka-1.example.org:9093"
        onChange={({ target }) => onChange({ brokers: target.value })}
      />
    </FormField>
    <FormField name="Topic" of={`${of}topic`} help={topicHelp}>
      <Input className="font-mono" value={draft.topic} maxLength={249} onChange={({ target }) => onChange({ topic: target.value })} />
    </FormField>
    <div className="flex flex-wrap gap-3">
      <FormField name="Username" of={`${of}username`} className="min-w-40 flex-1">
        <Input value={draft.username} maxLength={255} autoComplete="off" onChange={({ target }) => onChange({ username: target.value })} />
      </FormField>
      <SecretField
        name="Password"
        of={`${of}password`}
        value={draft.password}
        className="min-w-40 flex-1"
        onChange={(password) => onChange({ password })}
      />
      <FormField name="Login (SASL)" of={`${of}mechanism`} className="min-w-40 flex-1">
        <Select value={draft.mechanism} options={mechanisms} onPick={(mechanism) => onChange({ mechanism })} />
      </FormField>
    </div>
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={draft.tls} onChange={({ target }) => onChange({ tls: target.checked })} />
      Encrypt the connection (TLS)
    </label>
    {draft.tls && (
      <FormField name="Certificate of the authority" of={`${of}ca`} help="PEM; only where it is not a public authority.">
        <TextArea className="font-mono" value={draft.ca} onChange={({ target }) => onChange({ ca: target.value })} />
      </FormField>
    )}
  </>
)
