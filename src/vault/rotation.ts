import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { unsealOrNull } from '../kernel/envelope.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { badRequest } from '../kernel/route.js';
import { newSecret, secretFault } from '../secrets/module.js';
import type { CredentialRow } from '../store/tables/vault.js';
import type { CredentialRestoration, CredentialRotation, CredentialVersion } from './contract.js';
import {
  changeCredential,
  damagedValue,
  expiryColumns,
  findCredential,
  newVersion,
  refuseImpersonator,
  type VaultCaller,
  type VaultServiceDeps,
} from './service.js';

const OVERLAP_MINUTES = 60;

/** Without a value, one is generated and returned only this once. */
export const rotateCredential = async (
  deps: VaultServiceDeps,
  { id, input }: { id: string; input: CredentialRotation },
  by: VaultCaller,
): Promise<{ row: CredentialRow; value: string | null }> => {
  const found = await findCredential(deps, by.userId, id);
  refuseImpersonator(by);
  if (input.value !== undefined) await refuseUnfit(deps, id, input.value);
  refuseNone(found, input);
  const value = input.value ?? (await madeLike(deps, found));
  const row = await renew(deps, { id, value, ...input }, by);
  return { row, value: input.value === undefined ? value : null };
};

/** A value that another service issues cannot be generated here. */
const refuseNone = (
  { name, type }: CredentialRow,
  { value, generate }: CredentialRotation,
): void => {
  if (value !== undefined && generate === true) {
    const message = 'cannot be combined with value. Send only one of them';
    throw badRequest([{ path: 'generate', message }]);
  }
  const isMade = generate ?? type === 'webhook_secret';
  if (value !== undefined || isMade) return;
  throw Boom.badRequest(`Send the new value of ${name}, or generate: true to generate one`, {
    code: 'value_required',
  });
};

interface SecretRenewal {
  id: string;
  value: string;
  overlapMinutes?: number | undefined;
  data?: Record<string, unknown>;
}

const renew = (
  deps: VaultServiceDeps,
  { id, value, overlapMinutes = OVERLAP_MINUTES, data }: SecretRenewal,
  by: VaultCaller,
): Promise<CredentialRow> =>
  changeCredential(deps, { id, by }, (read, at) => {
    const now = deps.clock.now();
    const rotatedAt = iso(now);
    const changes = {
      version: read.version + 1,
      rotated_at: rotatedAt,
      rotation_told: 0,
      ...expiryColumns(renewed(read, now), now),
      updated_at: at,
    };
    const until = overlapEnd(read, now, overlapMinutes);
    const also = [by.record({ data: { version: changes.version, overlapMinutes, ...data } })];
    const version = newVersion(deps, { ...read, ...changes, created_at: rotatedAt }, value);
    return { done: deps.credentials.rotate({ read, changes, also }, version, until), changes };
  });

/** Valid versions, newest first. */
export const listCredentialVersions = async (
  deps: VaultServiceDeps,
  id: string,
  by: Caller,
): Promise<CredentialVersion[]> => {
  await findCredential(deps, by.userId, id);
  const rows = await deps.credentials.versions(by.userId, id, iso(deps.clock.now()));
  return rows.map(({ version, created_at, valid_until }) => ({
    version,
    createdAt: created_at,
    validUntil: valid_until,
  }));
};

/** The value becomes a new version, so that version numbers only rise. Throws 409 after the overlap. */
export const restoreCredential = async (
  deps: VaultServiceDeps,
  { id, input }: { id: string; input: CredentialRestoration },
  by: VaultCaller,
): Promise<CredentialRow> => {
  const { name, version: newest } = await findCredential(deps, by.userId, id);
  refuseImpersonator(by);
  const live = await deps.credentials.versions(by.userId, id, iso(deps.clock.now()));
  const from = live.find(
    ({ version }) => version < newest && version === (input.version ?? version),
  );
  if (!from) {
    const which =
      input.version === undefined ? 'no earlier version' : `no version ${input.version}`;
    const message = `${name} has ${which} that can be restored, because the overlap has ended`;
    throw Boom.conflict(message, { code: 'version_over' });
  }
  const value = unsealOrNull(() => deps.openVersion(from))?.take((bytes) => bytes.toString());
  if (value === undefined) throw damagedValue();
  await refuseUnfit(deps, id, value);
  const { overlapMinutes } = input;
  return renew(deps, { id, value, overlapMinutes, data: { restored: from.version } }, by);
};

/** A webhook must not sign with a weaker secret than it may be created with. Throws 400. */
const refuseUnfit = async (deps: VaultServiceDeps, id: string, value: string): Promise<void> => {
  const short = secretFault(value, true);
  if (short !== null && (await deps.credentials.signs(id))) {
    throw unfit(`${short}, since an outgoing webhook signs with it`);
  }
  const odd = faultOfHeaderValue(value);
  if (odd !== null && (await deps.credentials.isSent(id))) throw unfit(odd);
};

const unfit = (message: string): Boom.Boom => badRequest([{ path: 'value', message }]);

/** Keeps the form of the previous value, so that a Standard Webhooks recipient can decode it. */
const madeLike = async (deps: VaultServiceDeps, { user_id, id, version }: CredentialRow) => {
  const before = await deps.credentials.version(user_id, id, version);
  const secret = before && unsealOrNull(() => deps.openVersion(before));
  const isStandard = secret?.take((bytes) => secretFault(bytes.toString()) === null);
  return isStandard ? newSecret() : randomBytes(32).toString('base64url');
};

/** Null if there is no overlap. A rotation does not extend the validity of an expired value. */
const overlapEnd = (read: CredentialRow, now: number, overlapMinutes: number): string | null => {
  const expires = read.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(read.expires_at);
  const end = Math.min(now + overlapMinutes * 60_000, expires);
  return end > now ? iso(end) : null;
};

/**
 * The new value is valid for as long as the previous one was. If that one expired before it began, the
 * new one never expires, since nothing would renew it.
 */
const renewed = (row: CredentialRow, now: number): string | null => {
  if (row.expires_at === null) return null;
  const span = Date.parse(row.expires_at) - Date.parse(row.rotated_at ?? row.created_at);
  return span > 0 ? iso(now + span) : null;
};
