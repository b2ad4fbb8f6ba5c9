import type { Organization } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows, ShownOnce } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Input, TextArea } from '../../ui/field.tsx'

const ORGANIZATIONS = ['organisations']

/** OrganizationSettings edits the organization; the managing one also creates others. */
export function OrganizationSettings() {
  const client = useClient()
  const list = useQuery({ queryKey: ORGANIZATIONS, queryFn: ({ signal }) => client.organizations.list({ signal }) })
  return (
    <Loaded of={list}>
      {({ organisations }) => (
        <>
          {organisations
            .filter(({ active }) => active)
            .map((one) => (
              <Fragment key={one.id}>
                <OwnOrganization organisation={one} />
                {one.is_management_org && <Others organisations={organisations.filter(({ active }) => !active)} />}
              </Fragment>
            ))}
        </>
      )}
    </Loaded>
  )
}

const tagsIn = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

function OwnOrganization({ organisation }: { organisation: Organization }) {
  const client = useClient()
  const facts: [string, string][] = [
    ['Id', organisation.id],
    ['Region', organisation.region],
    [
      'Sign-in methods',
      organisation.login_methods
        .filter(({ enabled }) => enabled)
        .map(({ name }) => name)
        .join(', '),
    ],
    ['Manages other organizations', organisation.is_management_org ? 'yes' : 'no'],
  ]
  const before = organisation.partition_tags
  return (
    <Panel title={organisation.name}>
      <Form
        action="Save"
        needs="customer_write"
        layout="column"
        stale={ORGANIZATIONS}
        conflict="name"
        isDirty={false}
        done="Saved."
        onSend={(text) => {
          const tags = tagsIn(text('partition'))
          const partition_tags = tags.length > 0 ? { enabled: true, partition_tag_list: tags } : { enabled: false }
          const areTagsSame = tags.join() === (before?.enabled ? (before.partition_tag_list ?? []) : []).join()
          const body = { name: text('name'), description: text('description'), ...(areTagsSame ? {} : { partition_tags }) }
          return client.organizations.update({ params: { orgId: organisation.id }, body })
        }}
      >
        <FormField name="Name" of="name">
          <Input name="name" required maxLength={255} defaultValue={organisation.name} />
        </FormField>
        <FormField name="Description" of="description">
          <TextArea name="description" maxLength={4000} defaultValue={organisation.description} />
        </FormField>
        <FormField
          name="Tags for collection names"
          of="partition_tags"
          help="Events without a collection go to the collection named by the values of these tags, in this order. At most 6."
        >
          <Input
            name="partition"
            autoComplete="off"
            placeholder="none"
            className="font-mono"
            defaultValue={before?.enabled ? before.partition_tag_list?.join(', ') : ''}
          />
        </FormField>
      </Form>
      <dl className="grid grid-cols-[8rem_1fr] gap-y-1 border-line border-t p-3">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}

function Others({ organisations }: { organisations: readonly Organization[] }) {
  const client = useClient()
  const [created, setCreated] = useState<{ name: string; first_key: string }>()
  return (
    <>
      {created && <ShownOnce title={`The first key of “${created.name}”`} text={created.first_key} />}
      <Panel title="Other organizations">
        <Form
          action="Create organization"
          needs="customer_write"
          stale={ORGANIZATIONS}
          conflict="name"
          onSend={(text) => client.organizations.create({ body: { name: text('name') } })}
          onSaved={setCreated}
        >
          <FormField name="New organization" of="name" className="min-w-48">
            <Input name="name" required maxLength={255} autoComplete="off" placeholder="Name" />
          </FormField>
        </Form>
        <Rows
          label="Organizations"
          columns={['Name', 'Id']}
          empty="No other organizations yet."
          howTo={<Permitted to="customer_write">Create the first one.</Permitted>}
        >
          {organisations.map(({ id, name }) => (
            <Row
              key={id}
              cells={[
                name,
                <code key="id" className="font-mono text-xs">
                  {id}
                </code>,
              ]}
            />
          ))}
        </Rows>
      </Panel>
    </>
  )
}
