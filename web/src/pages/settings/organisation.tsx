import type { Organization } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { Answer, given, useAct } from './rows.tsx'

const ORGANISATIONS = ['organisations']

/** OrganisationPart is what the organisation is called, and what it is. */
export function OrganisationPart() {
  const client = useClient()
  const list = useQuery({ queryKey: ORGANISATIONS, queryFn: ({ signal }) => client.organizations.list({ signal }) })
  return (
    <Answer of={list}>
      {({ organisations }) => organisations.filter(({ active }) => active).map((one) => <Organisation key={one.id} organisation={one} />)}
    </Answer>
  )
}

function Organisation({ organisation }: { organisation: Organization }) {
  const client = useClient()
  const update = useAct(ORGANISATIONS, (body: { name: string; description: string }) =>
    client.organizations.update({ params: { orgId: organisation.id }, body }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = given(event.currentTarget)
    update.mutate({ name: text('name'), description: text('description') })
  }
  const facts: [string, string][] = [
    ['Id', organisation.id],
    ['Region', organisation.region],
    [
      'Signing in',
      organisation.login_methods
        .filter(({ enabled }) => enabled)
        .map(({ name }) => name)
        .join(', '),
    ],
    ['Manages others', organisation.is_management_org ? 'yes' : 'no'],
  ]
  return (
    <Panel title={organisation.name}>
      <form onSubmit={send} className="flex max-w-xl flex-col gap-3 p-3">
        <Field name="Name">
          <Input name="name" required maxLength={255} defaultValue={organisation.name} />
        </Field>
        <Field name="Description">
          <TextArea name="description" maxLength={4000} defaultValue={organisation.description} />
        </Field>
        {update.error && <FailureNote thrown={update.error} />}
        <span className="flex items-center gap-2">
          <Button type="submit" look="main" disabled={update.isPending}>
            Save
          </Button>
          {update.isSuccess && <span role="status">Saved.</span>}
        </span>
      </form>
      <dl className="grid max-w-xl grid-cols-[8rem_1fr] gap-y-1 border-line border-t p-3">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="break-all">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}
