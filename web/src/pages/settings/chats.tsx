import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'

const WORKSPACES = ['chat workspaces']
const CHANNELS = ['chat channels']
const ways = [
  ['webhook_url', 'an incoming webhook'],
  ['token', 'the token of a bot'],
] as const

/** Chats are workspaces that messages can be posted to, and the channels in them that monitors name. */
export function Chats() {
  const client = useClient()
  const workspaces = useQuery({ queryKey: WORKSPACES, queryFn: ({ signal }) => client.integrations.slackWorkspaces({ signal }) })
  const channels = useQuery({ queryKey: CHANNELS, queryFn: ({ signal }) => client.integrations.slack({ signal }) })
  const nameOf = (id: string) => workspaces.data?.slack_workspaces.find((one) => one.id === id)?.name ?? id
  const forget = useAct(WORKSPACES, (workspaceId: string) => client.integrations.removeSlackWorkspace({ params: { workspaceId } }))
  const remove = useAct(CHANNELS, (slackId: string) => client.integrations.removeSlack({ params: { slackId } }))
  return (
    <Panel title="Chat">
      <NewWorkspace />
      <Answer of={workspaces}>
        {({ slack_workspaces }) => (
          <>
            <Rows label="Chat workspaces" heads={['Workspace', 'Posts by']} empty="No chat workspace yet.">
              {slack_workspaces.map(({ id, name, posts_by }) => (
                <Row key={id} cells={[name, posts_by === 'TOKEN' ? 'a bot' : 'an incoming webhook']}>
                  <Confirm
                    size="small"
                    action="Forget"
                    label={`Forget ${name}`}
                    question={`Forget "${name}"?`}
                    onYes={() => forget.mutateAsync(id)}
                  />
                </Row>
              ))}
            </Rows>
            {slack_workspaces.length > 0 && <NewChannels workspaces={slack_workspaces} />}
          </>
        )}
      </Answer>
      {(workspaces.data?.slack_workspaces.length ?? 0) > 0 && (
        <Answer of={channels}>
          {({ integrations }) => (
            <Rows label="Chat channels" heads={['Name', 'Workspace', 'Channels']} empty="No channels yet.">
              {integrations.map((one) => (
                <Row key={one.id} cells={[one.name, nameOf(one.workspace_id), one.channels.join(', ')]}>
                  <Confirm
                    size="small"
                    action="Delete"
                    label={`Delete ${one.name}`}
                    question={`Delete "${one.name}"?`}
                    onYes={() => remove.mutateAsync(one.id)}
                  />
                </Row>
              ))}
            </Rows>
          )}
        </Answer>
      )}
    </Panel>
  )
}

function NewWorkspace() {
  const client = useClient()
  const [way, setWay] = useState<(typeof ways)[number][0]>('webhook_url')
  const create = useAct(WORKSPACES, (body: { name: string; token?: string; webhook_url?: string }) =>
    client.integrations.createSlackWorkspace({ body }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = given(form)
    create.mutate({ name: text('name'), [way]: text('secret') }, { onSuccess: () => form.reset() })
  }
  return (
    <form onSubmit={send} className="flex flex-wrap items-end gap-2 border-line border-b p-3">
      <Field name="New workspace">
        <Input name="name" required maxLength={255} placeholder="Its name" autoComplete="off" />
      </Field>
      <Field name="Posts by">
        <Select value={way} options={ways} onPick={(picked) => setWay(picked === 'token' ? 'token' : 'webhook_url')} />
      </Field>
      <Field name={way === 'token' ? 'Token' : 'Address of the webhook'} className="min-w-48 flex-1">
        <Input name="secret" type="password" required autoComplete="off" />
      </Field>
      <Button type="submit" disabled={create.isPending}>
        Add
      </Button>
      {create.error && <FailureNote thrown={create.error} />}
    </form>
  )
}

function NewChannels({ workspaces }: { workspaces: readonly { id: string; name: string }[] }) {
  const client = useClient()
  const [workspace, setWorkspace] = useState(workspaces[0]?.id ?? '')
  const create = useAct(CHANNELS, (body: { name: string; channels: string[]; workspace_id: string }) =>
    client.integrations.createSlack({ body }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = given(form)
    const channels = text('channels')
      .split(/[\s,]+/)
      .filter((one) => one !== '')
    create.mutate({ name: text('name'), channels, workspace_id: workspace }, { onSuccess: () => form.reset() })
  }
  return (
    <form onSubmit={send} className="flex flex-wrap items-end gap-2 border-line border-y p-3">
      <Field name="New channels">
        <Input name="name" required maxLength={255} placeholder="What monitors call them" autoComplete="off" />
      </Field>
      <Field name="In">
        <Select value={workspace} options={workspaces.map(({ id, name }) => [id, name] as const)} onPick={setWorkspace} />
      </Field>
      <Field name="Channels" className="min-w-48 flex-1">
        <Input name="channels" required placeholder="#alerts, #oncall" autoComplete="off" />
      </Field>
      <Button type="submit" disabled={create.isPending}>
        Add
      </Button>
      {create.error && <FailureNote thrown={create.error} />}
    </form>
  )
}
