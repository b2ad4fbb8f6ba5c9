/**
 * The layout of the module's memory. All tables have a fixed place and size; the lines lie behind them, where the host puts them, and then the columns of
 * the block in progress. Nothing but these is ever allocated.
 */
const BASE: i32 = 0x10000

export const BYTE_KINDS: i32 = BASE
export const ESCAPED_BYTES: i32 = BYTE_KINDS + 256
export const MASK_KINDS: i32 = ESCAPED_BYTES + 256
export const PATTERN_KINDS: i32 = MASK_KINDS + 256
/** The classes of bytes in texts, and the words that headers and levels consist of. */
export const TEXT_KINDS: i32 = PATTERN_KINDS + 256
export const WORD_BYTES: i32 = 16
export const WORDS_OF_TEXTS: i32 = TEXT_KINDS + 512
export const LEVEL_WORDS: i32 = WORDS_OF_TEXTS + WORD_BYTES * 64
/** The formats of times in front of texts: length, number and text. */
export const TEXT_FORMATS: i32 = LEVEL_WORDS + 8 * 16
export const TEXT_FORMAT_BYTES: i32 = 40
export const TEXT_FORMATS_MAX: i32 = 64
/** The results of the last line; the host reads them (line-kernel.ts). */
export const RESULT: i32 = TEXT_FORMATS + TEXT_FORMAT_BYTES * TEXT_FORMATS_MAX
/** The values of keys with a meaning, by the number of the key: of the line, and of the object in its message. */
export const LINE_ROLES: i32 = RESULT + 256
export const NESTED_ROLES: i32 = LINE_ROLES + 256

/** The layouts of written times: the part behind the seconds and what it means. */
export const LAYOUTS: i32 = NESTED_ROLES + 256
export const LAYOUT_BYTES: i32 = 96
export const LAYOUTS_MAX: i32 = 64

/** The levels of texts, by their hash. */
export const LEVELS: i32 = LAYOUTS + LAYOUT_BYTES * LAYOUTS_MAX
export const LEVEL_BYTES: i32 = 64
export const LEVELS_MAX: i32 = 256

/** A message that the host gives to be hashed. */
export const MESSAGE: i32 = LEVELS + LEVEL_BYTES * LEVELS_MAX
export const MASKED: i32 = MESSAGE + 0x800
export const REPAIRED: i32 = MASKED + 0x1000
export const PATTERN: i32 = REPAIRED + 0x4000
/** The hashes of patterns by the hash of the masked message. */
export const KNOWN_MASKS: i32 = PATTERN + 0x8000
export const KNOWN_MASKS_MAX: i32 = 4096

/** The values of a line, those of the object in its message, and those of an object that was read by itself. */
export const VALUES: i32 = KNOWN_MASKS + KNOWN_MASKS_MAX * 16
export const VALUE_BYTES: i32 = 16
export const VALUES_MAX: i32 = 8192
export const NESTED_VALUES_MAX: i32 = 1000
/** The words of the line's shapes, and the shapes themselves. */
export const WORDS: i32 = VALUES + VALUE_BYTES * (VALUES_MAX + 2 * NESTED_VALUES_MAX + 8)
export const LINE_SHAPES: i32 = WORDS + 4 * (VALUES_MAX + 16)

/** Each key has a path of its own, and so have the names of headers, whether a line has them or not. */
export const KEYS_MAX: i32 = 16384
export const PATHS_MAX: i32 = KEYS_MAX + 64
export const PATHS: i32 = LINE_SHAPES + 4 * (VALUES_MAX + 16)
export const PATH_BYTES: i32 = 32

/** Keys: a key is a name in an object. An object is known by the key that it is the value of. */
export const KEYS: i32 = PATHS + PATH_BYTES * PATHS_MAX
export const KEY_BYTES: i32 = 32
export const KEY_TABLE: i32 = KEYS + KEY_BYTES * KEYS_MAX
export const KEY_TABLE_SIZE: i32 = 32768
/** Whether the object of each key is an open map of the dataset: 0 for unknown, 1 for no, 2 for yes. */
export const OPEN_OBJECTS: i32 = KEY_TABLE + 4 * KEY_TABLE_SIZE

export const STEPS: i32 = OPEN_OBJECTS + KEYS_MAX
export const STEP_BYTES: i32 = 48
export const STEPS_MAX: i32 = 32768
export const STEP_TABLE: i32 = STEPS + STEP_BYTES * STEPS_MAX
export const STEP_TABLE_SIZE: i32 = 65536

export const SHAPES: i32 = STEP_TABLE + 4 * STEP_TABLE_SIZE
export const SHAPE_BYTES: i32 = 16
export const SHAPES_MAX: i32 = 16384
export const SHAPE_TABLE: i32 = SHAPES + SHAPE_BYTES * SHAPES_MAX
export const SHAPE_TABLE_SIZE: i32 = 32768
export const SHAPE_WORDS: i32 = SHAPE_TABLE + 4 * SHAPE_TABLE_SIZE
export const SHAPE_WORDS_MAX: i32 = 1048576

/** The names of keys and the literals of steps. */
export const TEXTS: i32 = SHAPE_WORDS + 4 * SHAPE_WORDS_MAX
export const TEXTS_BYTES: i32 = 6291456

/** The column and the overflow key of each path. */
export const PATH_COLUMNS: i32 = TEXTS + TEXTS_BYTES + 64
export const PATH_COLUMN_BYTES: i32 = 16
/** The columns of the block in progress, behind the state of the arena. */
export const COLUMNS: i32 = PATH_COLUMNS + PATH_COLUMN_BYTES * PATHS_MAX + 16
export const COLUMN_BYTES: i32 = 32
export const COLUMNS_MAX: i32 = 128

export const LINES: i32 = COLUMNS + COLUMN_BYTES * COLUMNS_MAX + 64
/** A body, and a line of a megabyte with its decoded texts. Memory that no line uses takes none of the machine. */
export const LINES_BYTES: i32 = 41943040
/** The texts of the block in progress; the only part that grows. */
export const ARENA: i32 = LINES + LINES_BYTES

/** Loads and stores of 16 bytes may go beyond the end of a text. */
export const PADDING: i32 = 64
