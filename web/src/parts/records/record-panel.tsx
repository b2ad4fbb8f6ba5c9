import type { Permission } from '@dendro/api'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../shell/page.tsx'
import { Permitted, useMay } from '../shell/permitted.tsx'
import { Confirm } from './confirm.tsx'
import { Loaded, type QueryState, Row, Rows } from './records.tsx'
import { useSave } from './save.ts'

type RecordPanelProps<Data, Item> = {
  title: string
  /** Names one record, as in `New webhook`. */
  noun: string
  list: QueryState<Data>
  itemsOf(data: Data): readonly Item[]
  /** The query key to reload after a deletion. */
  stale: readonly unknown[]
  columns: readonly string[]
  /** Says what would be here. */
  empty: string
  /** The field of a search by the service. */
  search?: ReactNode
  /** What follows the list, such as the button for its next page. */
  below?: ReactNode
  /** Says how to create a record where the page has a form of its own; elsewhere the list has a button. */
  howTo?: string
  idOf(item: Item): string
  nameOf(item: Item): string
  cellsOf(item: Item): readonly ReactNode[]
  /** Edits a record, or creates one. */
  form(item: Item | undefined, onEnd: () => void): ReactNode
  /** False where the page has a form for new records of its own. */
  creates?: boolean
  /** fixedOf is shown in place of the actions of a record that cannot be changed. */
  fixedOf?(item: Item): ReactNode | undefined
  /** isEditable is false for a record that can be deleted, but not changed. */
  isEditable?(item: Item): boolean
  /** actionsOf are shown before Edit and Delete. */
  actionsOf?(item: Item): ReactNode
  /** Says what a deletion does. */
  deletionOf(item: Item): string
  onDelete(item: Item): Promise<unknown>
  rights: Rights
}

/** The permissions to create and edit records, and to delete them. */
type Rights = { write: Permission; delete: Permission }

/** Lists records and creates, edits and deletes them. */
export function RecordPanel<Data, Item>(props: RecordPanelProps<Data, Item>) {
  const { title, noun, list, itemsOf, columns, empty, howTo, idOf, form, creates = true, rights } = props
  const [isCreating, setCreating] = useState(false)
  const may = useMay()
  const action = creates && !isCreating && may(rights.write) && <Button onClick={() => setCreating(true)}>{`New ${noun}`}</Button>
  const first = action && (
    <span className="mt-2 block">
      <Button variant="main" onClick={() => setCreating(true)}>{`Create the first ${noun}`}</Button>
    </span>
  )
  return (
    <Panel
      title={title}
      actions={
        <>
          {props.search}
          {action}
        </>
      }
    >
      {isCreating && <div className="border-line border-b">{form(undefined, () => setCreating(false))}</div>}
      <Loaded of={list}>
        {(data) => (
          <Rows label={title} columns={columns} empty={empty} howTo={creates ? first : may(rights.write) && howTo}>
            {itemsOf(data).map((item) => (
              <RecordRow key={idOf(item)} item={item} panel={props} />
            ))}
          </Rows>
        )}
      </Loaded>
      {props.below}
    </Panel>
  )
}

function RecordRow<Data, Item>({ item, panel }: { item: Item; panel: RecordPanelProps<Data, Item> }) {
  const [isEdited, setEdited] = useState(false)
  const fixed = panel.fixedOf?.(item)
  return (
    <Row cells={panel.cellsOf(item)} below={isEdited && panel.form(item, () => setEdited(false))}>
      <Permitted to={panel.rights.write}>{panel.actionsOf?.(item)}</Permitted>
      {fixed ?? (
        <EditAndDelete
          name={`${panel.noun} ${panel.nameOf(item)}`}
          isEdited={isEdited}
          isEditable={panel.isEditable?.(item) ?? true}
          message={panel.deletionOf(item)}
          stale={panel.stale}
          rights={panel.rights}
          onEdit={setEdited}
          onDelete={() => panel.onDelete(item)}
        />
      )}
    </Row>
  )
}

type EditAndDeleteProps = {
  /** name completes the labels, as in `Delete the webhook oncall`. */
  name: string
  isEdited: boolean
  isEditable?: boolean
  message: string
  stale: readonly unknown[]
  rights: Rights
  onEdit(isEdited: boolean): void
  onDelete(): Promise<unknown>
}

/** The actions of a record whose form opens below it. */
export function EditAndDelete({ name, isEdited, isEditable = true, message, stale, rights, onEdit, onDelete }: EditAndDeleteProps) {
  const remove = useSave(onDelete, { stale: [stale] })
  return (
    <>
      {isEditable && (
        <Permitted to={rights.write}>
          <Button size="small" aria-label={`Edit the ${name}`} aria-expanded={isEdited} onClick={() => onEdit(!isEdited)}>
            Edit
          </Button>
        </Permitted>
      )}
      <Confirm
        size="small"
        action="Delete"
        needs={rights.delete}
        label={`Delete the ${name}`}
        message={message}
        onYes={() => remove.mutateAsync()}
      />
    </>
  )
}
