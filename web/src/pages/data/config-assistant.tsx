import type { AgentConfig, AgentType, Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { CopyButton } from '../../parts/shell/copy-button.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'

const kinds = {
  file: 'files',
  journald: 'systemd journal',
  syslog: 'Syslog over the network',
  docker: 'Docker containers',
  kubernetes: 'Kubernetes pods',
  otlp: 'OTLP from applications',
} as const
type Kind = keyof typeof kinds
type Agent = { agent: AgentType; display_name: string; sources: readonly Kind[] }

/** Writes the configuration of an agent that sends to a dataset. */
export function ConfigAssistant({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const agents = useQuery({
    queryKey: ['agents'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.configAssistant.agents({ signal }),
  })
  const [created, setCreated] = useState<AgentConfig>()
  return (
    <Panel title="Agent configuration">
      <Loaded of={agents}>{(data) => <ConfigForm agents={data.agents} dataset={dataset} onCreated={setCreated} />}</Loaded>
      {created && <ConfigFile config={created} />}
    </Panel>
  )
}

type ConfigFormProps = { agents: readonly Agent[]; dataset: Dataset; onCreated(config: AgentConfig): void }

function ConfigForm({ agents, dataset, onCreated }: ConfigFormProps) {
  const client = useClient()
  const [agent, setAgent] = useState<AgentType>('otel-collector')
  const [kind, setKind] = useState<Kind>('file')
  const able = agents.find((one) => one.agent === agent)?.sources ?? []
  const source = able.includes(kind) ? kind : (able[0] ?? 'file')
  return (
    <Form
      action="Generate"
      label="Agent configuration"
      stale={['configurations']}
      layout="column"
      onSaved={onCreated}
      onSend={(text) =>
        client.configAssistant.create({
          body: {
            agent,
            collection: dataset.collection,
            dataset: dataset.dataset,
            sources: [{ kind: source, ...(source === 'file' ? { options: { paths: text('paths').split(/[\s,]+/) } } : {}) }],
            ...(text('prompt') === '' ? {} : { prompt: text('prompt') }),
          },
        })
      }
    >
      <div className="flex flex-wrap gap-2">
        <FormField name="Agent" of="agent">
          <Select value={agent} options={agents.map((one) => [one.agent, one.display_name] as const)} onPick={setAgent} />
        </FormField>
        <FormField name="Source" of="sources">
          <Select value={source} options={able.map((one) => [one, kinds[one]] as const)} onPick={setKind} />
        </FormField>
        {source === 'file' && (
          <FormField name="Files" of="sources[0].options.paths" className="min-w-56 flex-1">
            <Input name="paths" required className="font-mono" autoComplete="off" defaultValue="/var/log/*.log" />
          </FormField>
        )}
      </div>
      <FormField name="Instructions" of="prompt" help="In your own words, for example: drop lines with healthcheck, send every 5 seconds">
        <Input name="prompt" maxLength={4000} autoComplete="off" />
      </FormField>
    </Form>
  )
}

function ConfigFile({ config }: { config: AgentConfig }) {
  return (
    <section aria-label="Configuration" className="flex flex-col gap-2 border-line border-t p-3">
      <div className="flex items-center gap-2">
        <h3 className="mr-auto font-medium">File ({config.format})</h3>
        <CopyButton size="small" text={config.config}>
          Copy
        </CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long file is scrolled by keyboard too */}
      <pre tabIndex={0} className="max-h-120 overflow-auto rounded bg-sunk p-2 font-mono text-xs">
        {config.config}
      </pre>
      {config.warnings.length > 0 && (
        <ul className="flex flex-col gap-1">
          {config.warnings.map((warning) => (
            <li key={warning}>
              <span aria-hidden className="text-warn">
                <Icon of={TriangleAlert} size="small" />
              </span>{' '}
              {warning}
            </li>
          ))}
        </ul>
      )}
      <p className="whitespace-pre-line text-soft">{config.explanation}</p>
    </section>
  )
}
