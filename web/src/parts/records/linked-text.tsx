import { linkParts } from './link-parts.ts'

/** LinkedText makes links of the addresses in a text that people wrote, such as a runbook in a description. */
export const LinkedText = ({ text }: { text: string }) =>
  linkParts(text).map(({ at, text: part, isLink }) =>
    isLink ? (
      <a key={at} href={part} target="_blank" rel="noreferrer noopener" className="wrap-anywhere text-accent underline">
        {part}
      </a>
    ) : (
      part
    ),
  )
