import { isIP } from 'node:net'
import { type AsnResponse, type CityResponse, Reader, type Response } from 'maxmind'
import { Recent } from '../kernel/recent.ts'
import type { SharedFile } from '../kernel/shared-files.ts'
import type { FieldText } from './arriving-event.ts'

/** A database of network addresses: where they are, or whose. */
type AddressDatabase = { readonly version: string; readonly find: (address: string) => readonly FieldText[] }

const OPEN_MAX = 16

/** Keeps databases open, as long as their files are not replaced. */
export class AddressDatabases {
  readonly #open = new Recent<string, AddressDatabase>(OPEN_MAX)

  /** Throws for a file that is no database. */
  of(files: readonly SharedFile[]): readonly AddressDatabase[] {
    return files.map((file) => this.#open.of(file.version, () => openDatabase(file)))
  }
}

function openDatabase({ version, bytes }: SharedFile): AddressDatabase {
  const reader = new Reader<Response>(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  const isNetwork = /ASN|ISP/i.test(reader.metadata.databaseType)
  return {
    version,
    find: (address) => {
      const found = reader.get(address)
      if (!found) return []
      return isNetwork ? networkFields(found as AsnResponse) : placeFields(found as CityResponse)
    },
  }
}

const networkFields = (found: AsnResponse): FieldText[] =>
  present({ asn: found.autonomous_system_number, organization: found.autonomous_system_organization })

function placeFields({ continent, country, registered_country, subdivisions, city, location }: Partial<CityResponse>): FieldText[] {
  const ofCountry = country ?? registered_country
  return present({
    continent: continent?.code,
    country: ofCountry?.iso_code,
    country_name: ofCountry?.names?.en,
    region: subdivisions?.[0]?.names?.en ?? subdivisions?.[0]?.iso_code,
    city: city?.names?.en,
    latitude: location?.latitude,
    longitude: location?.longitude,
    time_zone: location?.time_zone,
  })
}

const present = (values: Readonly<Record<string, string | number | undefined>>): FieldText[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))

const FIRST_IN_JSON = /^\[\s*"([^"\\]*)"/

/** The address that a text names: alone, with a port, in brackets, or as the first of a list, which may be JSON. */
export function addressIn(text: string): string | undefined {
  const start = text.slice(0, 100)
  const first = (FIRST_IN_JSON.exec(start)?.[1] ?? start).split(',')[0]?.trim() ?? ''
  if (isIP(first)) return first
  const inBrackets = /^\[([^\]]+)\](?::\d+)?$/.exec(first)?.[1]
  const beforePort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(first)?.[1]
  const address = inBrackets ?? beforePort
  return address !== undefined && isIP(address) ? address : undefined
}
