import type { Dataset, Retention, RetentionRule } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { ago, count } from '../../parts/numbers.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { buttonLook } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { retentionDaysText } from './retention-days.ts'
import { retentionChoices, retentionText } from './retentions.ts'

const RULES = ['retention']
const REFRESH_MS = 10_000
const lengths = retentionChoices('').filter(([value]) => value !== '') as readonly (readonly [Retention, string])[]

/** RetentionRules edits retention from the organization down to a dataset; the most specific rule wins. */
export function RetentionRules() {
  const client = useClient()
  const rules = useQuery({ queryKey: [...RULES, 'rules'], queryFn: ({ signal }) => client.retentionRules.list({ signal }) })
  const datasets = useQuery({ queryKey: ['datasets'], queryFn: ({ signal }) => client.datasets.list({ signal }) })
  const overview = useQuery({
    queryKey: [...RULES, 'overview'],
    queryFn: ({ signal }) => client.retention.overview({ signal }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Page
      title="Retention"
      actions={
        <Link to="/data" search={{}} className={buttonLook()}>
          All datasets
        </Link>
      }
    >
      <p className="max-w-3xl text-soft">
        The most specific rule counts: of the dataset, else of its collection, else of the organization, else the setting of the service.
        Events older than that are hidden at once, and removed by whole days.
      </p>
      <Panel title="Rules">
        <NewRule rules={rules.data?.retention_rules ?? []} datasets={datasets.data?.datasets ?? []} />
        <Answer of={rules}>
          {({ retention_rules }) => (
            <Rows label="Rules" heads={['Of', 'Kept']} empty="No rule yet: the setting of the service holds for everything.">
              {retention_rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
      <Panel title="Retention by dataset">
        <Answer of={overview}>
          {({ clock, datasets: kept, deleted, orphans }) => (
            <>
              {!clock.is_trusted && (
                <p className="px-3 pt-3 text-soft">Nothing is removed for its age before the clock has run for two hours without a jump.</p>
              )}
              {deleted.length > 0 && (
                <section aria-label="Deleted datasets" className="p-3">
                  <h3 className="mb-1 font-medium">Deleted, and still leaving the disk</h3>
                  <ul>
                    {deleted.map(({ log_id, collection, dataset, deleted_at }) => (
                      <li key={log_id}>
                        {collection} / {dataset} <span className="text-soft">deleted {ago(deleted_at, Date.now())}</span>
                      </li>
                    ))}
                  </ul>
                </section>
              )}
              {orphans.length > 0 && (
                <p className="px-3 pt-3 text-warn">
                  ▲ {count(orphans.reduce((sum, { events }) => sum + events, 0))} events are of datasets that are not known here, and are
                  never removed.
                </p>
              )}
              <Rows label="Kept" heads={['Dataset', 'Kept', 'Because of', 'Removed for their age']} empty="No datasets yet.">
                {kept.map(({ log_id, collection, dataset, retention_days, rule, removed }) => (
                  <Row
                    key={log_id}
                    cells={[
                      <Link key="name" to="/data" search={{ id: log_id, part: 'care' }} className="text-accent hover:underline">
                        {collection} / {dataset}
                      </Link>,
                      <span key="days" className="whitespace-nowrap">
                        {retentionDaysText(retention_days)}
                      </span>,
                      levels[rule],
                      removed ? count(removed.events) : 'nothing yet',
                    ]}
                  />
                ))}
              </Rows>
            </>
          )}
        </Answer>
      </Panel>
    </Page>
  )
}

const levels = { LOG: 'the dataset', LOG_SET: 'its collection', ORGANISATION: 'the organization', DEPLOYMENT: 'the setting of the service' }

type NewRuleProps = { rules: readonly RetentionRule[]; datasets: readonly Dataset[] }

/** NewRule sets the retention of the organization or a collection; that of a dataset is set on its own page. */
function NewRule({ rules, datasets }: NewRuleProps) {
  const client = useClient()
  const [of, setOf] = useState('')
  const [retention, setRetention] = useState<Retention>('DAYS_90')
  const collections = [...new Set(datasets.map(({ collection }) => collection))].sort()
  const free = collections.filter((name) => !rules.some(({ entity, scope }) => entity === 'LOG_SET' && nameIn(scope.from) === name))
  return (
    <Form
      action="Create rule"
      label="New rule"
      reads={RULES}
      conflict="scope"
      onSend={() =>
        client.retentionRules.create({
          body:
            of === ''
              ? { entity: 'ORGANISATION', category: 'DEFAULT_RETENTION', retention, scope: { name: 'org:default' } }
              : { entity: 'LOG_SET', category: 'DATASET_RETENTION', retention, scope: { from: of } },
        })
      }
      onDone={() => setOf('')}
    >
      <FormField name="Of" of={['scope', 'entity']}>
        <Select
          className="sm:max-w-80"
          value={of}
          options={[['', 'the organization'], ...free.map((name) => [name, `the collection ${name}`] as const)]}
          onPick={setOf}
        />
      </FormField>
      <FormField name="Keep events for" of="retention">
        <Select value={retention} options={lengths} onPick={setRetention} />
      </FormField>
    </Form>
  )
}

const nameIn = (from: string | undefined): string => from?.replace(/^log:/, '') ?? ''

function RuleRow({ rule }: { rule: RetentionRule }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const [retention, setRetention] = useState(rule.retention)
  const params = { ruleId: rule.id }
  const { entity, category, scope } = rule
  const remove = useAction(RULES, () => client.retentionRules.remove({ params }))
  const name =
    entity === 'ORGANISATION' ? 'the organization' : `the ${entity === 'LOG_SET' ? 'collection' : 'dataset'} ${nameIn(scope.from)}`
  return (
    <Row
      cells={[name, retentionText(rule.retention)]}
      below={
        isEdited && (
          <Form
            action="Save"
            label={`Change the rule of ${name}`}
            reads={RULES}
            onSend={() => client.retentionRules.update({ params, body: { entity, category, scope, retention } })}
            onDone={() => setEdited(false)}
            onLeave={() => setEdited(false)}
          >
            <FormField
              name="Keep events for"
              of="retention"
              help="A shorter time hides what is older at once, and removes it within an hour or so."
            >
              <Select value={retention} options={lengths} onPick={setRetention} />
            </FormField>
          </Form>
        )
      }
    >
      <ChangeAndDelete
        isEdited={isEdited}
        onEdit={setEdited}
        label={`Delete the rule of ${name}`}
        message={`Delete the rule of ${name}? The more general one counts from then on, and what it hides is removed.`}
        onDelete={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}
