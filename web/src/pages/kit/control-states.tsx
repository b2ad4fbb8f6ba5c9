import { ApiFailure } from '@dendro/api/client'
import { Bell, Play, Share2, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { Confirm } from '../../parts/records/confirm.tsx'
import { FieldErrorsOf, Form, FormField } from '../../parts/records/form.tsx'
import { ActionMenu } from '../../parts/shell/action-menu.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { Group, State } from './kit-state.tsx'

const variants = ['plain', 'main', 'quiet', 'chosen'] as const
const sizes = ['normal', 'small'] as const
const choices = [
  ['a', 'First'],
  ['b', 'Second'],
] as const

const rejected = new ApiFailure(400, {
  type: 'invalid_request',
  details: 'The name is taken.',
  errors: [{ field: 'name', code: 'taken', message: 'another record has this name' }],
})

/** ControlStates are buttons, fields, forms and what opens over a page. */
export function ControlStates() {
  return (
    <>
      <Group title="Buttons">
        {variants.flatMap((variant) =>
          sizes.map((size) => (
            <State key={`${variant} ${size}`} name={`button ${variant} ${size}`} caption={`${variant}, ${size}`}>
              <span className="flex gap-1">
                <Button variant={variant} size={size}>
                  Save
                </Button>
                <Button variant={variant} size={size}>
                  <Icon of={Play} size={size} /> Run
                </Button>
                <Button variant={variant} size={size} disabled>
                  Disabled
                </Button>
              </span>
            </State>
          )),
        )}
        <State name="button with a menu">
          <Button>
            Rows <Caret />
          </Button>
        </State>
        <State name="button link">
          <a href="#kit" className={buttonClass()}>
            All components
          </a>
        </State>
        <State name="icon button">
          <span className="flex gap-1">
            <IconButton icon={Bell} label="Notify" />
            <IconButton icon={X} label="Remove" disabled />
          </span>
        </State>
      </Group>
      <Group title="Fields">
        <State name="field">
          <Field name="Name" help="Up to 255 characters.">
            <Input placeholder="A placeholder" />
          </Field>
        </State>
        <State name="field with a value">
          <Field name="Name">
            <Input defaultValue="Payments are refused" />
          </Field>
        </State>
        <State name="field disabled">
          <Field name="Name">
            <Input defaultValue="Payments" disabled />
          </Field>
        </State>
        <State name="field with an error">
          <FieldErrorsOf thrown={rejected}>
            <FormField name="Name" of="name">
              <Input defaultValue="Payments" />
            </FormField>
          </FieldErrorsOf>
        </State>
        <State name="text area">
          <Field name="Description">
            <TextArea defaultValue="What the alert means" />
          </Field>
        </State>
        <State name="select">
          <Field name="Format">
            <Select value="a" options={choices} onPick={() => undefined} />
          </Field>
        </State>
        <State name="checkbox">
          <label className="flex items-center gap-2">
            <input type="checkbox" defaultChecked /> Include a report
          </label>
        </State>
      </Group>
      <Group title="Forms">
        <State name="form in a column" isWide>
          <Form action="Save" layout="column" stale={['kit']} onSend={async () => undefined} onCancel={() => undefined}>
            <FormField name="Name" of="name">
              <Input name="name" defaultValue="Payments" />
            </FormField>
          </Form>
        </State>
        <State name="form in a line" isWide>
          <Form action="Add" stale={['kit']} isReady={false} onSend={async () => undefined}>
            <FormField name="New workspace" of="name">
              <Input name="name" />
            </FormField>
          </Form>
        </State>
      </Group>
      <Group title="What opens">
        <State name="popover">
          <Popover label="A popover" trigger={<Button>Open popover</Button>}>
            <p className="w-56">It opens next to its button, and Esc closes it.</p>
          </Popover>
        </State>
        <State name="confirmation">
          <Confirm action="Delete" message="Delete “Payments” and its history?" onYes={async () => undefined} />
        </State>
        <State name="menu of actions">
          <ActionMenu
            actions={[
              { name: 'Share', note: 'Copy a link', icon: Share2, panel: () => <p>A link</p> },
              { name: 'Delete', icon: Trash2, isDestructive: true, run: () => undefined },
            ]}
          />
        </State>
        <State name="side panel">
          <OpensPanel />
        </State>
      </Group>
    </>
  )
}

function OpensPanel() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Open side panel</Button>
      {isOpen && (
        <SidePanel title="Context" actions={<Button>Action</Button>} onClose={() => setOpen(false)}>
          <p className="p-3">The events around an event.</p>
        </SidePanel>
      )}
    </>
  )
}
