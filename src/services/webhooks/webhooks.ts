import { sql } from 'kysely'
import { newId } from '../../domain/id.ts'
import type { Page } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import type { NewWebhookBody, WebhookChangeBody } from '../../domain/webhooks/webhook-body.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { HEADERS_ROW, newKey, sealRow } from './webhook-keys.ts'
import { webhookViewOf, type WebhookRow, type WebhookView } from './webhook-view.ts'

export interface WebhookName {
  readonly project: string
  readonly name: string
}

/** With what a receiver verifies messages with; shown this once. */
export interface WebhookWithKey extends WebhookView {
  readonly key: string
}

/** Registers a webhook. @throws Problem `already_exists`; `invalid_request` for an address that may not be */
export async function createWebhook(deps: ServiceDeps, project: string, body: NewWebhookBody): Promise<WebhookWithKey> {
  refuseUrl(deps, body.url)
  const id = newId('whk')
  const signing = body.signing ?? 'v1'
  const key = newKey(deps.keyRing, id, 1, signing)
  const rows = [key.row, ...headerRow(deps, id, body.headers)]
  return deps.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('webhook')
      .values({
        id,
        project_id: project,
        name: body.name,
        url: new URL(body.url).href,
        events: body.events,
        label_selector: JSON.stringify(body.labelSelector ?? {}),
        scope: body.scope ?? 'all',
        delivery_order: body.order ?? 'none',
        signing,
        header_names: namesOf(body.headers),
      })
      .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!row) throw new Problem('already_exists', `There is a webhook \`${body.name}\` already. Change it by PATCH.`)
    await db.insertInto('webhook_key').values(rows).execute()
    return { ...webhookViewOf(row), key: key.shown }
  })
}

/** @throws Problem `not_found` */
export async function getWebhook(deps: ServiceDeps, { project, name }: WebhookName): Promise<WebhookView> {
  const row = await deps.db.selectFrom('webhook').selectAll().where('project_id', '=', project).where('name', '=', name).executeTakeFirst()
  if (!row) throw new Problem('not_found', `There is no webhook \`${name}\`.`)
  return webhookViewOf(row)
}

/** By name. @throws Problem `malformed_request` for a cursor of another list */
export async function listWebhooks(
  deps: ServiceDeps,
  { project, limit, cursor }: { project: string; limit: number; cursor: string | undefined },
): Promise<Page<WebhookView>> {
  const list = { list: 'webhooks', project }
  const after = readCursor(cursor, list)
  let query = deps.db.selectFrom('webhook').selectAll().where('project_id', '=', project)
  if (after !== null) query = query.where('name', '>', after)
  const rows = await query
    .orderBy('name')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(webhookViewOf)
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.name, list) : null }
}

/** What is said and no more, from the version that the client has seen. @throws Problem `precondition_failed`, `invalid_request` */
export async function changeWebhook(deps: ServiceDeps, from: WebhookView, body: WebhookChangeBody): Promise<WebhookView> {
  if (body.url !== undefined) refuseUrl(deps, body.url)
  const headers = headerRow(deps, from.id, body.headers)
  return deps.db.transaction().execute(async (db) => {
    const row = await db
      .updateTable('webhook')
      .set({ ...columnsOf(body), version: from.version + 1, updated_at: sql`now()` })
      .where('id', '=', from.id)
      .where('version', '=', from.version)
      .returningAll()
      .executeTakeFirst()
    if (!row) throw new Problem('precondition_failed', `The webhook \`${from.name}\` has changed since you read it.`)
    if (body.headers !== undefined)
      await db.deleteFrom('webhook_key').where('webhook_id', '=', from.id).where('number', '=', HEADERS_ROW).execute()
    if (headers.length > 0) await db.insertInto('webhook_key').values(headers).execute()
    return webhookViewOf(row)
  })
}

const columnsOf = ({ url, events, labelSelector, scope, order, headers, enabled }: WebhookChangeBody) => ({
  ...(url !== undefined && { url: new URL(url).href }),
  ...(events !== undefined && { events }),
  ...(labelSelector !== undefined && { label_selector: JSON.stringify(labelSelector) }),
  ...(scope !== undefined && { scope }),
  ...(order !== undefined && { delivery_order: order }),
  ...(headers !== undefined && { header_names: namesOf(headers) }),
  ...(enabled !== undefined && { enabled, disabled_why: null }),
  ...(enabled === true && { failures: 0, failing_since: null, paused_until: null }),
})

/** With all that was or is to be sent. What is being sent just now still arrives. */
export async function deleteWebhook(deps: ServiceDeps, { project, name }: WebhookName): Promise<void> {
  const { id } = await getWebhook(deps, { project, name })
  await deps.pool.query(
    `WITH gone AS (DELETE FROM webhook WHERE id = $1), keys AS (DELETE FROM webhook_key WHERE webhook_id = $1),
       deliveries AS (DELETE FROM webhook_delivery WHERE webhook_id = $1 RETURNING id)
     DELETE FROM webhook_attempt WHERE delivery_id IN (SELECT id FROM deliveries)`,
    [id],
  )
}

/** A new key signs from now on; the old one signs too for the overlap. @throws Problem `not_found` */
export async function rotateWebhook(deps: ServiceDeps, name: WebhookName, overlapSeconds: number): Promise<WebhookWithKey> {
  const { id, signing } = await getWebhook(deps, name)
  return deps.db.transaction().execute(async (db) => {
    // Whoever rotates at the same time waits here.
    const row: WebhookRow = await db
      .updateTable('webhook')
      .set({ version: sql`version + 1`, updated_at: sql`now()` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const keys = db.selectFrom('webhook_key').select('number').where('webhook_id', '=', id)
    const { number } = await keys.orderBy('number', 'desc').limit(1).executeTakeFirstOrThrow()
    const key = newKey(deps.keyRing, id, number + 1, signing)
    await db
      .updateTable('webhook_key')
      .set({ expires_at: sql`least(expires_at, now() + ${overlapSeconds} * interval '1 second')` })
      .where('webhook_id', '=', id)
      .where('number', '>', HEADERS_ROW)
      .execute()
    await db.insertInto('webhook_key').values(key.row).execute()
    return { ...webhookViewOf(row), key: key.shown }
  })
}

function refuseUrl(deps: ServiceDeps, url: string): void {
  const refusal = deps.webhookAccess.refusal(new URL(url))
  if (refusal === null) return
  throw new Problem('invalid_request', `The address of the webhook ${refusal}.`, {
    errors: [{ pointer: '/url', code: 'forbidden_address', detail: refusal }],
  })
}

const namesOf = (headers: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(headers)
    .map((name) => name.toLowerCase())
    .sort()

const headerRow = (deps: ServiceDeps, id: string, headers: Readonly<Record<string, string>> = {}) =>
  Object.keys(headers).length === 0 ? [] : [sealRow(deps.keyRing, id, HEADERS_ROW, headers)]
