import { meaningOf, type OpenApiDocument, type OpenApiOperation } from '@dendro/api'
import { icon, script, style } from './assets.ts'
import { bodySample, curlOf, exampleOf, examplePath, type Schemas } from './examples.ts'
import { fieldsOf, parametersOf, typeOf } from './fields.ts'
import { type Html, html, prose } from './html.ts'
import { introduction } from './introduction.ts'
import { wireProtocolsSection } from './wire-protocols.ts'

/** An Entry is one endpoint on the page, with its alias paths. */
type Entry = { method: string; path: string; operation: OpenApiOperation; aliases: readonly string[] }
type Section = { tag: string; title: string; entries: readonly Entry[] }

const PUBLIC = 'public'

/** referencePage renders the OpenAPI document: one section per tag, one article per endpoint, then the schemas. */
export function referencePage(document: OpenApiDocument, facts: { baseUrl: string; version: string }): string {
  const sections = sectionsOf(document)
  const schemas = document.components.schemas
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dendro API reference</title>
<link rel="icon" href="${icon.address}" type="image/svg+xml">
<link rel="stylesheet" href="${style.address}">
<script src="${script.address}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/"><img src="${icon.address}" alt="" width="24" height="24"><b>Dendro</b></a>
<label class="search"><span class="unseen">Search endpoints and fields</span><input id="finder" type="search" placeholder="Search" autocomplete="off" spellcheck="false"><kbd>/</kbd></label>
<form id="credential"><label><span>Credential</span><input id="key" type="password" placeholder="API key or token" autocomplete="off" spellcheck="false"></label></form>
<button id="menu" class="plain" type="button" aria-expanded="false" aria-controls="contents">Contents</button>
</header>
<div class="frame">
<nav id="contents" aria-label="Contents">
<a href="#introduction">Introduction</a>
${sections.map(navigation)}
<a href="#wire-protocols">Events in other protocols</a>
<a href="#schemas">Schemas</a>
</nav>
<main id="content">
${introduction(facts, html`${fieldsOf({ $ref: '#/components/schemas/Error' }, schemas, 'response')}`)}
<p id="nothing" hidden>No endpoint or schema matches.</p>
${sections.map((section) => sectionOf(section, facts.baseUrl, schemas))}
${wireProtocolsSection()}
<section id="schemas" class="group"><h2>Schemas</h2><p>The objects of requests and responses.</p>
${Object.keys(schemas).map((name) => schemaOf(name, schemas))}
</section>
</main>
</div>
</body>
</html>
`
  return page.markup
}

function sectionsOf(document: OpenApiDocument): Section[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return document.tags.map(({ name, description }) => ({
    tag: name,
    title: description,
    entries: all
      .filter(({ operation }) => operation.tags.includes(name) && operation['x-alias-of'] === undefined)
      .map((entry) => ({
        ...entry,
        aliases: all.filter((other) => other.operation['x-alias-of'] === entry.operation.operationId).map((other) => other.path),
      })),
  }))
}

const navigation = (
  section: Section,
): Html => html`<div class="part" data-part="${section.tag}"><a class="title" href="#${section.tag}">${section.title}</a>
${section.entries.map(
  ({ method, path, operation }) =>
    html`<a class="entry" href="#${operation.operationId}" data-for="${operation.operationId}"><span class="method ${method.toLowerCase()}">${shortMethod(method)}</span><span class="path">${brokenAtSlashes(path)}</span></a>`,
)}</div>`

const shortMethod = (method: string): string => (method === 'DELETE' ? 'DEL' : method)

const sectionOf = (
  section: Section,
  baseUrl: string,
  schemas: Schemas,
): Html => html`<section id="${section.tag}" class="group"><h2>${section.title}</h2>
${section.entries.map((entry) => articleOf(entry, baseUrl, schemas))}
</section>`

function articleOf(entry: Entry, baseUrl: string, schemas: Schemas): Html {
  const { method, path, operation, aliases } = entry
  const body = bodySample(operation, schemas)
  const url = baseUrl + examplePath(path, operation, schemas)
  const curl = curlOf({ method, url, isPublic: operation['x-permission'] === PUBLIC, body })
  return html`<article id="${operation.operationId}" data-method="${method}" data-path="${path}">
<div class="what">
<h3><a href="#${operation.operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <span class="path">${brokenAtSlashes(path)}</span></a></h3>
<p class="summary">${prose(operation.summary)}.</p>
${operation.description && html`<p>${prose(operation.description)}</p>`}
${aliases.length > 0 && html`<p class="note">Also at ${aliases.map((alias, index) => html`${index > 0 && ', '}<code>${alias}</code>`)}</p>`}
<p class="permission"><b>Permission</b> ${permissionOf(operation)}</p>
${inputsOf(operation, schemas)}
${responseOf(operation, schemas)}
${errorsOf(operation)}
</div>
<div class="example">
<div class="code"><div class="caption">Request<button class="plain copy" type="button" hidden>Copy</button></div><pre tabindex="0"><code>${curl}</code></pre></div>
${sampleResponse(operation, schemas)}
<div class="try" hidden${body && html` data-body="${body.text}" data-type="${body.type}"`}></div>
</div>
</article>`
}

/** brokenAtSlashes lets a long path wrap before its slashes. */
const brokenAtSlashes = (path: string): Html =>
  html`${path
    .split('/')
    .slice(1)
    .map((piece) => html`<wbr>/${piece}`)}`

function permissionOf(operation: OpenApiOperation): Html {
  const permission = operation['x-permission']
  if (permission === PUBLIC) return html`none: open to everyone`
  const exception = { self: '; the user named in the path, with a token', member: '; members of the group, with a token' }[
    operation['x-exception'] ?? ''
  ]
  if (permission === 'any') return html`any valid credential`
  return html`${operation['x-roles'].join(', ')}, or a role with <code>${permission}</code>${exception}`
}

function inputsOf(operation: OpenApiOperation, schemas: Schemas): Html {
  const parameters = operation.parameters ?? []
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const body = operation.requestBody
  const types = Object.keys(body?.content ?? {})
  const schema = types.length === 1 ? body?.content['application/json']?.schema : undefined
  return html`${inPath.length > 0 && html`<h4>Path</h4>${parametersOf(inPath, schemas)}`}
${inQuery.length > 0 && html`<h4>Query</h4>${parametersOf(inQuery, schemas)}`}
${schema && html`<h4>Body ${body?.required === false && html`<span class="note">optional</span>`}</h4>${fieldsOf(schema, schemas, 'request')}`}
${body && !schema && html`<h4>Body</h4><p class="whole">${types.map((type, index) => html`${index > 0 && ', '}<code>${type}</code>`)}</p>`}`
}

function successOf(operation: OpenApiOperation): {
  status: string
  media: string | undefined
  schema: OpenApiDocument['components']['schemas'][string] | undefined
} {
  const [status = '200', response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? []
  const content = response && 'content' in response ? Object.entries(response.content ?? {})[0] : undefined
  return { status, media: content?.[0], schema: content?.[1].schema }
}

function responseOf(operation: OpenApiOperation, schemas: Schemas): Html {
  const { status, media, schema } = successOf(operation)
  if (!schema) return html`<h4>Response <span class="status">${status}</span></h4><p class="whole">No body.</p>`
  const isJson = media === 'application/json'
  const name = html`${schema.$ref !== undefined && html` <span class="note">${typeOf(schema)}</span>`}`
  return html`<h4>Response <span class="status">${status}</span>${name}</h4>${isJson ? fieldsOf(schema, schemas, 'response') : html`<p class="whole"><code>${media}</code></p>`}`
}

function errorsOf(operation: OpenApiOperation): Html {
  const codes = Object.keys(operation.responses).filter((code) => /^[45]/.test(code))
  return html`<h4>Errors</h4><ul class="failures">${codes.map((code) => html`<li title="${meaningOf(Number(code))}">${code}</li>`)}</ul>`
}

function sampleResponse(operation: OpenApiOperation, schemas: Schemas): Html | undefined {
  const { status, media, schema } = successOf(operation)
  if (!schema || media !== 'application/json') return undefined
  const sample = JSON.stringify(exampleOf(schema, schemas), null, 2)
  return html`<div class="code"><div class="caption">Response <span class="status">${status}</span></div><pre tabindex="0"><code>${sample}</code></pre></div>`
}

function schemaOf(name: string, schemas: Schemas): Html {
  const schema = schemas[name] ?? {}
  return html`<article id="schema-${name}" class="schema"><h3><a href="#schema-${name}">${name}</a></h3>
${typeof schema.description === 'string' && html`<p>${prose(schema.description)}</p>`}
${fieldsOf({ ...schema, description: undefined }, schemas, 'response')}</article>`
}
