import Boom from '@hapi/boom';
import type { Queue } from '../../jobs/module.js';
import { iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Http } from '../../kernel/http.js';
import { mint } from '../../kernel/ids.js';
import { newSecret, type RotationDeps, rotatedSecretColumns } from '../../secrets/module.js';
import { type WebhookRow, webhookTable } from '../../store/tables/outbox.js';
import { updateIf } from '../../store/updateif.js';
import { storedColumns } from '../../store/view.js';
import type { Vault } from '../../vault/module.js';
import type { NewWebhook, SecretRotation, WebhookChanges } from './contract.js';
import {
  checkHeaders,
  type HeaderSealer,
  headerColumns,
  refuseUnlistedHeaders,
} from './headers.js';
import type { WebhooksStore } from './queries.js';
import { checkSecret, checkUrl, checkWebhookCredential } from './rules.js';
import type { Subscriptions } from './subscriptions.js';
import type { WebhookWithStats } from './view.js';

export interface WebhooksDeps extends RotationDeps {
  webhooks: WebhooksStore;
  subscriptions: Subscriptions;
  outgoing: Pick<Queue, 'rest'>;
  http: Http;
  vault: Vault;
  headers: HeaderSealer;
}

type WebhookCaller = Caller & Recorder;

const MAX_WEBHOOKS_PER_USER = 50;
const OVERLAP_MINUTES = 60;

/** A generated secret is returned only once. */
export const createWebhook = async (
  deps: WebhooksDeps,
  input: NewWebhook,
  by: WebhookCaller,
): Promise<{ row: WebhookWithStats; secret: string | null }> => {
  checkUrl(deps, input.url);
  checkSecret(input);
  checkHeaders(input.headers);
  await checkWebhookCredential(deps, by.userId, input.credentialId);
  const secret = input.secret ?? newSecret();
  const row = newRow(deps, by.userId, { ...input, secret });
  const recorded = by.record({ target: row.id, data: { name: row.name, url: row.url } });
  if (!(await deps.webhooks.insert(row, MAX_WEBHOOKS_PER_USER, recorded))) {
    throw Boom.conflict(
      `You have the maximum of ${MAX_WEBHOOKS_PER_USER} outgoing webhooks. Delete a webhook first`,
    );
  }
  deps.subscriptions.put(row);
  const isShown = input.secret === undefined && input.credentialId === undefined;
  return { row: { ...row, ...UNUSED }, secret: isShown ? secret : null };
};

const UNUSED = { waiting: 0, sent: 0, failed: 0, last_delivery_at: null, last_status: null };

const newRow = (
  { clock, sealSecret, headers }: WebhooksDeps,
  userId: string,
  { secret, ...given }: NewWebhook & { secret: string },
): WebhookRow => {
  const now = clock.now();
  const id = mint('webhook', now);
  return {
    id,
    user_id: userId,
    name: given.name,
    url: given.url,
    events: JSON.stringify(given.events),
    secret_sealed: sealSecret(id, secret),
    old_secret_sealed: null,
    old_secret_until: null,
    credential_id: given.credentialId ?? null,
    enabled: given.enabled === false ? 0 : 1,
    disabled_reason: null,
    disabled_count: 0,
    failing_since: null,
    created_at: iso(now),
    updated_at: iso(now),
    rate_per_minute: given.ratePerMinute ?? null,
    ...(headerColumns(headers, { id, headers_sealed: null }, given.headers) ?? NO_HEADERS),
  };
};

const NO_HEADERS = { headers_sealed: null, header_names: '[]' };

/** A new URL, or enabling, resets earlier failures. */
export const updateWebhook = async (
  deps: WebhooksDeps,
  { id, given }: { id: string; given: WebhookChanges },
  by: WebhookCaller,
): Promise<WebhookWithStats> => {
  if (given.url !== undefined) checkUrl(deps, given.url);
  checkHeaders(given.headers);
  await checkWebhookCredential(deps, by.userId, given.credentialId ?? undefined);
  const { headers, ...rest } = given;
  // Logs header names, never values.
  const noted = { ...rest, ...(headers && { headers: Object.keys(headers) }) };
  const changed = await change(deps, { id, by, noted }, (row) => {
    refuseUnlistedHeaders(deps.headers, row, given);
    return { ...buildWebhookChanges(rest), ...headerColumns(deps.headers, row, headers) };
  });
  if (given.url !== undefined || given.enabled) deps.outgoing.rest(id, 0);
  return changed;
};

const buildWebhookChanges = (input: WebhookChanges): Partial<WebhookRow> => ({
  ...storedColumns(webhookTable, input),
  ...(input.url !== undefined && { failing_since: null }),
  ...(input.enabled === true && { disabled_reason: null, failing_since: null }),
});

/**
 * During the overlap both secrets sign, and earlier ones until their own overlap ends. Overlap 0
 * revokes all.
 */
export const rotateWebhookSecret = async (
  deps: WebhooksDeps,
  { id, given }: { id: string; given: SecretRotation },
  by: WebhookCaller,
): Promise<{ secret?: string; oldSecretUntil: string | null }> => {
  await findUserWebhookRow(deps, by.userId, id);
  checkSecret(given);
  const { overlapMinutes = OVERLAP_MINUTES } = given;
  const secret = given.secret ?? newSecret();
  const { old_secret_until: oldSecretUntil } = await change(
    deps,
    { id, by, noted: { overlapMinutes } },
    (row) => ({
      ...rotatedSecretColumns(deps, row, { sealed: requireOwnSecret(row), overlapMinutes }),
      secret_sealed: deps.sealSecret(id, secret),
    }),
  );
  return { ...(given.secret === undefined && { secret }), oldSecretUntil };
};

/** Throws 409 `secret_in_vault` if a credential is used. */
const requireOwnSecret = ({ credential_id, secret_sealed }: WebhookRow): string => {
  if (credential_id === null) return secret_sealed;
  throw Boom.conflict(
    'The secret of this webhook is a vault credential. Rotate the credential instead',
    {
      code: 'secret_in_vault',
    },
  );
};

export const deleteWebhook = async (
  deps: WebhooksDeps,
  id: string,
  by: WebhookCaller,
): Promise<void> => {
  const { name } = await findUserWebhookRow(deps, by.userId, id);
  if (!(await deps.webhooks.delete(by.userId, id, by.record({ data: { name } })))) {
    throw noWebhook();
  }
  deps.subscriptions.remove(by.userId, id);
};

interface StoreOfWebhooks {
  webhooks: WebhooksStore;
}

export const findWebhook = async ({ webhooks }: StoreOfWebhooks, userId: string, id: string) =>
  orMissing(await webhooks.get(userId, id));

export const findUserWebhookRow = async (
  { webhooks }: StoreOfWebhooks,
  userId: string,
  id: string,
) => orMissing(await webhooks.bare(userId, id));

const orMissing = <Row>(row: Row | undefined): Row => {
  if (!row) throw noWebhook();
  return row;
};

/** Retries on concurrent changes. */
const change = async (
  deps: WebhooksDeps,
  { id, by, noted }: { id: string; by: WebhookCaller; noted: Record<string, unknown> },
  decide: (row: WebhookRow) => Partial<WebhookRow>,
): Promise<WebhookWithStats> => {
  await updateIf({
    clock: deps.clock,
    read: () => findUserWebhookRow(deps, by.userId, id),
    write: async (row, version) => {
      const changes = { ...decide(row), updated_at: version };
      return (await deps.webhooks.update(row, changes, [by.record({ data: noted })])) || null;
    },
  });
  const changed = await findWebhook(deps, by.userId, id);
  deps.subscriptions.put(changed);
  return changed;
};

const noWebhook = (): Boom.Boom => Boom.notFound('Outgoing webhook not found');
