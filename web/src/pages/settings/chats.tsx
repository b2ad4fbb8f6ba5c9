import type { SlackIntegration, SlackWorkspace } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { usePagedPanel } from '../../parts/records/paged-panel.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Input, Select } from '../../ui/field.tsx'

const WORKSPACES = ['chat workspaces']
const CHANNELS = ['chat channels']
const methods = [
  ['webhook_url', 'an incoming webhook'],
  ['token', 'a bot token'],
] as const

/** Chats manages chat workspaces and the channels that monitors notify. */
export function Chats() {
  const client = useClient()
  const workspaces = useQuery({ queryKey: WORKSPACES, queryFn: ({ signal }) => client.integrations.slackWorkspaces({ signal }) })
  const remove = useSave((workspaceId: string) => client.integrations.removeSlackWorkspace({ params: { workspaceId } }), {
    stale: [WORKSPACES],
  })
  return (
    <>
      <Panel title="Chat workspaces">
        <Permitted to="integrations_write">
          <NewWorkspace />
        </Permitted>
        <Loaded of={workspaces}>
          {({ slack_workspaces }) => (
            <Rows
              label="Chat workspaces"
              columns={['Workspace', 'Connect with']}
              empty="No chat workspaces yet."
              howTo={<Permitted to="integrations_write">Add the first one, so that monitors can notify its channels.</Permitted>}
            >
              {slack_workspaces.map(({ id, name, posts_by }) => (
                <Row key={id} cells={[name, posts_by === 'TOKEN' ? 'a bot token' : 'an incoming webhook']}>
                  <Confirm
                    size="small"
                    action="Delete"
                    needs="integrations_delete"
                    label={`Delete the workspace ${name}`}
                    message={`Delete “${name}”? A workspace that chat channels use cannot be deleted.`}
                    onYes={() => remove.mutateAsync(id)}
                  />
                </Row>
              ))}
            </Rows>
          )}
        </Loaded>
      </Panel>
      {workspaces.data && workspaces.data.slack_workspaces.length > 0 && <Channels workspaces={workspaces.data.slack_workspaces} />}
    </>
  )
}

function NewWorkspace() {
  const client = useClient()
  const [method, setMethod] = useState<(typeof methods)[number][0]>('webhook_url')
  return (
    <Form
      action="Add workspace"
      label="New workspace"
      stale={WORKSPACES}
      conflict="name"
      className="border-line border-b"
      onSend={(text) => client.integrations.createSlackWorkspace({ body: { name: text('name'), [method]: text('secret') } })}
    >
      <FormField name="New workspace" of="name">
        <Input name="name" required maxLength={255} placeholder="Name" autoComplete="off" />
      </FormField>
      <FormField name="Connect with" of="posts_by">
        <Select value={method} options={methods} onPick={setMethod} />
      </FormField>
      <FormField
        name={method === 'token' ? 'Token' : 'URL of the webhook'}
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
  const { isSearched, ...paged } = usePagedPanel<SlackIntegration>({
    noun: 'chat integration',
    queryKey: CHANNELS,
    read: async (query, signal) => {
      const { integrations, ...rest } = await client.integrations.slack({ query, signal })
      return { records: integrations, ...rest }
    },
  })
  return (
    <RecordPanel
      rights={{ write: 'integrations_write', delete: 'integrations_delete' }}
      title="Chat channels"
      noun="chat integration"
      {...paged}
      itemsOf={(integrations) => integrations}
      stale={CHANNELS}
      columns={['Name', 'Workspace', 'Channels']}
      empty={isSearched ? 'No chat integration matches.' : 'No chat integrations yet. One names the channels that a monitor notifies.'}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      cellsOf={({ name, workspace_id, channels }) => [
        name,
        workspaces.find(({ id }) => id === workspace_id)?.name ?? workspace_id,
        channels.join(', '),
      ]}
      form={(integration, onEnd) => <ChannelsForm workspaces={workspaces} integration={integration} onEnd={onEnd} />}
      deletionOf={({ name }) => `Delete “${name}”? A chat integration that a monitor uses cannot be deleted.`}
      onDelete={({ id }) => client.integrations.removeSlack({ params: { slackId: id } })}
    />
  )
}

type ChannelsFormProps = Workspaces & { integration: SlackIntegration | undefined; onEnd(): void }

function ChannelsForm({ workspaces, integration, onEnd }: ChannelsFormProps) {
  const client = useClient()
  const first = integration?.workspace_id ?? workspaces[0]?.id ?? ''
  const [workspace_id, setWorkspace] = useState(first)
  return (
    <Form
      action={integration ? 'Save' : 'Create chat integration'}
      label={integration ? `Edit ${integration.name}` : 'New chat integration'}
      stale={CHANNELS}
      conflict="name"
      isDirty={integration && workspace_id !== first}
      onSend={async (text) => {
        const channels = text('channels').split(/[\s,]+/)
        const body = { name: text('name'), channels: channels.filter((one) => one !== ''), workspace_id }
        if (integration) await client.integrations.updateSlack({ params: { slackId: integration.id }, body })
        else await client.integrations.createSlack({ body })
      }}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Name" of="name">
        <Input name="name" required maxLength={255} autoComplete="off" defaultValue={integration?.name} />
      </FormField>
      <FormField name="Workspace" of="workspace_id">
        <Select value={workspace_id} options={workspaces.map(({ id, name }) => [id, name] as const)} onPick={setWorkspace} />
      </FormField>
      <FormField name="Channels" of="channels" className="min-w-48 flex-1">
        <Input name="channels" required placeholder="#alerts, #oncall" autoComplete="off" defaultValue={integration?.channels.join(', ')} />
      </FormField>
    </Form>
  )
}
