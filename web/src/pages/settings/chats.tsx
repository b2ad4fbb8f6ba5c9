import type { SlackIntegration, SlackWorkspace } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Form, FormField } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { Input, Select } from '../../ui/field.tsx'

const WORKSPACES = ['chat workspaces']
const CHANNELS = ['chat channels']
const ways = [
  ['webhook_url', 'an incoming webhook'],
  ['token', 'the token of a bot'],
] as const

/** Chats manages chat workspaces and the channels that monitors notify. */
export function Chats() {
  const client = useClient()
  const workspaces = useQuery({ queryKey: WORKSPACES, queryFn: ({ signal }) => client.integrations.slackWorkspaces({ signal }) })
  const forget = useAction(WORKSPACES, (workspaceId: string) => client.integrations.removeSlackWorkspace({ params: { workspaceId } }))
  return (
    <Panel title="Chat">
      <NewWorkspace />
      <Answer of={workspaces}>
        {({ slack_workspaces }) => (
          <>
            <Rows label="Chat workspaces" heads={['Workspace', 'Posts by']} empty="No chat workspaces yet.">
              {slack_workspaces.map(({ id, name, posts_by }) => (
                <Row key={id} cells={[name, posts_by === 'TOKEN' ? 'a bot' : 'an incoming webhook']}>
                  <Confirm
                    size="small"
                    action="Forget"
                    label={`Forget ${name}`}
                    message={`Forget "${name}"? Channels that name it keep it from being forgotten.`}
                    onYes={() => forget.mutateAsync(id)}
                  />
                </Row>
              ))}
            </Rows>
            {slack_workspaces.length > 0 && <Channels workspaces={slack_workspaces} />}
          </>
        )}
      </Answer>
    </Panel>
  )
}

function NewWorkspace() {
  const client = useClient()
  const [way, setWay] = useState<(typeof ways)[number][0]>('webhook_url')
  return (
    <Form
      action="Add workspace"
      label="New workspace"
      reads={WORKSPACES}
      conflict="name"
      className="border-line border-b"
      onSend={(text) => client.integrations.createSlackWorkspace({ body: { name: text('name'), [way]: text('secret') } })}
    >
      <FormField name="New workspace" of="name">
        <Input name="name" required maxLength={255} placeholder="Its name" autoComplete="off" />
      </FormField>
      <FormField name="Posts by" of="posts_by">
        <Select value={way} options={ways} onPick={setWay} />
      </FormField>
      <FormField
        name={way === 'token' ? 'Token' : 'Address of the webhook'}
        of={['token', 'webhook_url']}
        help="It is never shown again."
        className="min-w-48 flex-1"
      >
        <Input name="secret" type="password" required autoComplete="off" />
      </FormField>
    </Form>
  )
}

type Workspaces = { workspaces: readonly SlackWorkspace[] }

function Channels({ workspaces }: Workspaces) {
  const client = useClient()
  const channels = useQuery({ queryKey: CHANNELS, queryFn: ({ signal }) => client.integrations.slack({ signal }) })
  return (
    <>
      <ChannelsForm workspaces={workspaces} integration={undefined} onEnd={() => undefined} />
      <Answer of={channels}>
        {({ integrations }) => (
          <Rows label="Chat channels" heads={['Name', 'Workspace', 'Channels']} empty="No channels yet.">
            {integrations.map((one) => (
              <ChannelsRow key={one.id} integration={one} workspaces={workspaces} />
            ))}
          </Rows>
        )}
      </Answer>
    </>
  )
}

function ChannelsRow({ integration, workspaces }: Workspaces & { integration: SlackIntegration }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const { id, name, channels, workspace_id } = integration
  const remove = useAction(CHANNELS, () => client.integrations.removeSlack({ params: { slackId: id } }))
  return (
    <Row
      cells={[name, workspaces.find((one) => one.id === workspace_id)?.name ?? workspace_id, channels.join(', ')]}
      below={isEdited && <ChannelsForm workspaces={workspaces} integration={integration} onEnd={() => setEdited(false)} />}
    >
      <ChangeAndDelete
        isEdited={isEdited}
        onEdit={setEdited}
        label={`Delete ${name}`}
        message={`Delete "${name}"? Monitors that name it keep it from being deleted.`}
        onDelete={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

type ChannelsFormProps = Workspaces & { integration: SlackIntegration | undefined; onEnd(): void }

function ChannelsForm({ workspaces, integration, onEnd }: ChannelsFormProps) {
  const client = useClient()
  const [workspace_id, setWorkspace] = useState(integration?.workspace_id ?? workspaces[0]?.id ?? '')
  return (
    <Form
      action={integration ? 'Save' : 'Add channels'}
      label={integration ? `Change ${integration.name}` : 'New channels'}
      reads={CHANNELS}
      conflict="name"
      className={integration ? '' : 'border-line border-y'}
      onSend={async (text) => {
        const channels = text('channels').split(/[\s,]+/)
        const body = { name: text('name'), channels: channels.filter((one) => one !== ''), workspace_id }
        if (integration) await client.integrations.updateSlack({ params: { slackId: integration.id }, body })
        else await client.integrations.createSlack({ body })
      }}
      onDone={onEnd}
      onLeave={integration && onEnd}
    >
      <FormField name={integration ? 'Name' : 'New channels'} of="name">
        <Input
          name="name"
          required
          maxLength={255}
          placeholder="What monitors call them"
          autoComplete="off"
          defaultValue={integration?.name}
        />
      </FormField>
      <FormField name="In" of="workspace_id">
        <Select value={workspace_id} options={workspaces.map(({ id, name }) => [id, name] as const)} onPick={setWorkspace} />
      </FormField>
      <FormField name="Channels" of="channels" className="min-w-48 flex-1">
        <Input name="channels" required placeholder="#alerts, #oncall" autoComplete="off" defaultValue={integration?.channels.join(', ')} />
      </FormField>
    </Form>
  )
}
