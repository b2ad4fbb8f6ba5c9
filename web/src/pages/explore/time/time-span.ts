export type TimeSpan = { fromMs: number; toMs: number }
