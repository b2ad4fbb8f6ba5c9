import type { Content, OpenApiDocument, OpenApiOperation, ResponseObject } from '../../../api/src/openapi.ts'
import { argumentName, docstring, PythonTypes, pascalCase, snakeCase } from './python-types.ts'

const HEADER = `"""The typed API, generated from the OpenAPI document by generate.ts. Do not edit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Mapping, Optional, TypedDict, Union

from .api_transport import ApiTransport

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`

type Method = { group: string; name: string; code: string }

/** Writes the Python client of an OpenAPI document: a class per group with a method per operation. */
export function pythonClient(document: OpenApiDocument): string {
  const types = new PythonTypes(Object.keys(document.components.schemas))
  for (const [name, schema] of Object.entries(document.components.schemas)) types.declare(name, schema)
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-alias-of'] === undefined && !isForBrowsers(operation))
      .map(([verb, operation]) => methodOf(verb.toUpperCase(), path, operation, types)),
  )
  const groups = [...new Set(methods.map(({ group }) => group))].sort()
  const classes = groups.map((group) => {
    const own = methods.filter((method) => method.group === group)
    return `class ${className(group)}:\n    def __init__(self, transport: ApiTransport) -> None:\n        self._transport = transport\n\n${own.map(({ code }) => code).join('\n')}`
  })
  const client = `class DendroClient(ApiTransport):
    """Every endpoint of the service: \`\`client.datasets.list()\`\`. Failures raise \`\`ApiFailure\`\`, a missing answer \`\`NoAnswer\`\`."""

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        token: Optional[str] = None,
        timeout_s: float = 120,
        attempts_max: int = 4,
    ) -> None:
        super().__init__(url, key, token=token, timeout_s=timeout_s, attempts_max=attempts_max)
${groups.map((group) => `        self.${snakeCase(group)} = ${className(group)}(self)\n`).join('')}`
  return [HEADER, ...types.all(), ...classes, client].join('\n\n')
}

const className = (group: string): string => `${pascalCase(group)}Api`

/** Pages, scripts and images are for browsers. */
const isForBrowsers = (operation: OpenApiOperation): boolean =>
  Object.keys(successOf(operation)?.content ?? {}).some((type) => /html|css|javascript|svg/.test(type)) ||
  operation.operationId.startsWith('webApp.')

const successOf = ({ responses }: OpenApiOperation): ResponseObject | undefined => {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  return success && 'description' in success ? success : undefined
}

function methodOf(verb: string, path: string, operation: OpenApiOperation, types: PythonTypes): Method {
  const [group = '', name = ''] = operation.operationId.split('.')
  const prefix = `${pascalCase(group)}${pascalCase(name)}`
  const parameters = operation.parameters ?? []
  const places = parameters.filter((one) => one.in === 'path')
  const queries = parameters.filter((one) => one.in === 'query' && !places.some(({ name: place }) => place === one.name))
  const body = bodyOf(operation, prefix, types)
  const reply = replyOf(successOf(operation)?.content, prefix, types)
  const takesText = body?.contentType !== undefined
  const signature = [
    'self',
    ...places.map((one) => `${snakeCase(argumentName(one.name))}: str`),
    ...(body ? [`body: ${body.isRequired ? body.type : `Optional[${body.type}] = None`}`] : []),
    '*',
    ...queries
      .toSorted((a, b) => Number(b.required) - Number(a.required))
      .map((one) => {
        const type = types.typeOf(one.schema, `${prefix}${pascalCase(one.name)}`)
        return `${argumentName(one.name)}: ${one.required ? type : `Optional[${type}] = None`}`
      }),
    ...(takesText ? [`content_type: str = "${body.contentType}"`] : []),
    'headers: Optional[Mapping[str, str]] = None',
  ]
  const target = path.replaceAll(/\{(\w+)\}/g, (_, place: string) => `{self._transport.part(${snakeCase(argumentName(place))})}`)
  const given = [
    `"${verb}"`,
    target === path ? `"${path}"` : `f"${target}"`,
    `"${reply.kind}"`,
    ...(queries.length > 0 ? [`query={${queries.map((one) => `"${one.name}": ${argumentName(one.name)}`).join(', ')}}`] : []),
    ...(body ? ['body=body'] : []),
    ...(takesText ? ['content_type=content_type'] : []),
    'headers=headers',
  ]
  const described = queries.filter((one) => one.description !== undefined).map((one) => `${argumentName(one.name)}: ${one.description}`)
  const text = [
    `${operation.summary}.`,
    ...(operation.description ? ['', operation.description.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')] : []),
    ...(described.length > 0 ? ['', ...described] : []),
  ]
  const call = `self._transport.call(\n${given.map((one) => `            ${one},\n`).join('')}        )`
  return {
    group,
    name,
    code: `    def ${snakeCase(argumentName(name))}(\n${signature.map((one) => `        ${one},\n`).join('')}    ) -> ${reply.type}:\n${docstring(text.join('\n'), '        ')}        ${reply.type === 'None' ? call : `reply: ${reply.type} = ${call}\n        return reply`}\n`,
  }
}

type Body = { type: string; isRequired: boolean; contentType?: string }

function bodyOf({ requestBody }: OpenApiOperation, prefix: string, types: PythonTypes): Body | undefined {
  if (!requestBody) return undefined
  const [[contentType, content] = ['', undefined], ...others] = Object.entries(requestBody.content)
  if (others.length === 0 && contentType === 'application/json' && content)
    return { type: types.typeOf(content.schema, `${prefix}Body`), isRequired: requestBody.required }
  return { type: 'Union[str, bytes, List[Any], Dict[str, Any]]', isRequired: true, contentType }
}

type Reply = { type: string; kind: 'json' | 'lines' | 'bytes' | 'text' | 'none' }

function replyOf(content: Content | undefined, prefix: string, types: PythonTypes): Reply {
  const [[contentType, found] = ['', undefined]] = Object.entries(content ?? {})
  if (!found) return { type: 'None', kind: 'none' }
  if (contentType === 'application/json') return { type: types.typeOf(found.schema, `${prefix}Reply`), kind: 'json' }
  if (contentType === 'text/event-stream' || contentType === 'application/x-ndjson') return { type: 'Iterator[str]', kind: 'lines' }
  return contentType.startsWith('text/') ? { type: 'str', kind: 'text' } : { type: 'bytes', kind: 'bytes' }
}
