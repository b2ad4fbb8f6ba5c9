import type { ForwardConfig } from '@dendro/api'
import { Link, useSearch } from '@tanstack/react-router'
import { dottedName, useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { Confirm } from '../../../parts/records/confirm.tsx'
import { Row } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { buttonClass } from '../../../ui/button.tsx'
import { TransferList } from '../transfer-list.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { destinationKinds, destinationText } from './destination-text.ts'
import { FORWARD_CONFIGS, useForwardConfigs } from './forward-configs.ts'
import { ForwardEditor } from './forward-editor.tsx'

/** Where events are forwarded to and how far, or the editor of one config. */
export function Forwarding() {
  const { edit } = useSearch({ from: '/inside/data' })
  return edit === undefined ? <ConfigList /> : <ForwardEditor key={edit} id={edit === 'new' ? undefined : edit} />
}

const ConfigList = () => (
  <TransferList
    title="Forwarding"
    about="Events are copied to a bucket, a URL or Kafka as they arrive. While a destination does not accept them, they wait in their dataset, as long as its retention keeps them."
    of={useForwardConfigs()}
    page="forwarding"
    needs="forward_write"
    action="Forward events"
    empty={{
      title: 'Nothing is forwarded yet',
      about: 'Forward events to keep a cheap archive in a bucket, to feed another system, or to have a second copy in another Dendro.',
    }}
    columns={['Name', 'Destination', 'Datasets', 'Delivery']}
  >
    {(config) => <ConfigRow key={config.id} config={config} />}
  </TransferList>
)

function ConfigRow({ config }: { config: ForwardConfig }) {
  const client = useClient()
  const { id, name, description, destination, filter, log_ids = [], all_logs, format, delivery } = config
  const { nameOf } = useDatasetsById(log_ids)
  const remove = useSave(() => client.forwardConfigs.remove({ params: { forwardId: id } }), { stale: [FORWARD_CONFIGS] })
  return (
    <Row
      cells={[
        <>
          <span className="font-medium">{name}</span>
          {description && <span className="block text-soft text-xs">{description}</span>}
        </>,
        <>
          <span className="block">{destinationKinds[destination.destination_type]}</span>
          <span className="wrap-anywhere block text-soft text-xs">
            {destinationText(destination)}
            {format === 'PARQUET' && ', as Parquet'}
          </span>
        </>,
        <>
          {all_logs ? 'all datasets' : datasetsText(log_ids.map((id) => nameOf(id, dottedName)))}
          {filter && <code className="wrap-anywhere block font-mono text-soft text-xs">{filter}</code>}
        </>,
        <DeliveryState key="delivery" delivery={delivery} nowMs={Date.now()} />,
      ]}
    >
      <Permitted to="forward_write">
        <Link to="/data" search={{ forwarding: true, edit: id }} aria-label={`Edit ${name}`} className={buttonClass({ size: 'small' })}>
          Edit
        </Link>
      </Permitted>
      <Confirm
        size="small"
        action="Delete"
        needs="forward_delete"
        label={`Delete ${name}`}
        message={`Delete ${name}? Events that have arrived are still delivered, later ones are not. What is delivered stays at its destination.`}
        onYes={() => remove.mutateAsync()}
      />
    </Row>
  )
}

const NAMES_SHOWN = 3

/** Names some of many datasets. */
const datasetsText = (names: readonly string[]): string =>
  names.length <= NAMES_SHOWN + 1 ? names.join(', ') : `${names.slice(0, NAMES_SHOWN).join(', ')} and ${names.length - NAMES_SHOWN} more`
