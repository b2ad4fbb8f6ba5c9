/** The header of a post whose lines are events as exports write them in NDJSON, which another Dendro stores as they were. */
export const DENDRO_EVENTS = 'x-dendro-events'
