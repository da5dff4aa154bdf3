/**
 * SQL for the statements that write an event: a row of `webhook_delivery` for every webhook `w` that takes it, in the same
 * transaction. All that is given here is SQL, never a user's words.
 */
export interface EventSql {
  /** Where the event and its webhooks come from: `FROM …` with `webhook w`, and what binds them. */
  readonly from: string
  /** `job`, `drive` or `webhook`. */
  readonly kind: 'job' | 'drive' | 'webhook'
  readonly type: string
  readonly subject: string
  readonly seq: string
  /** When it was. */
  readonly at: string
  /** jsonb of the labels that selectors look at. */
  readonly labels: string
  /** A condition that takes it past scope and selector; `false` where nothing does. */
  readonly named: string
  /** jsonb of what the message says. */
  readonly data: string
}

export const fanOut = ({ from, kind, type, subject, seq, at, labels, named, data }: EventSql): string => `
  INSERT INTO webhook_delivery (id, webhook_id, type, subject, seq, event_at, data)
  SELECT ${NEW_MESSAGE_ID}, w.id, ${type}, ${subject}, ${seq}, ${at}, ${data}
  ${from} AND w.enabled AND w.events && ARRAY['*', '${kind}.*', ${type}]::text[]
    AND ((w.scope = 'all' AND ${labels} @> w.label_selector) OR ${named})
  ON CONFLICT DO NOTHING
  RETURNING webhook_id`

/** Messages are kept for so long after their event, so that of an older one nobody can tell whether it was sent. */
export const MESSAGE_DAYS = 30

/** Standard Webhooks wants an id without dots that nobody else has made. */
export const NEW_MESSAGE_ID = `'msg_' || replace(gen_random_uuid()::text, '-', '')`
